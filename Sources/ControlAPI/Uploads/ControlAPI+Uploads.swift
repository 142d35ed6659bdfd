internal import Blobs
internal import Crypto
import FoundationEssentials
internal import HTTPServer
internal import Model

/// The routes of uploads: files that are sent in parts, before the submissions that name them.
///
/// No request waits for the database, and none holds more of the body than the server buffers.
extension ControlAPI {
  var uploadRoutes: [Route] {
    let limit = maxUploadBytes
    return [
      route("OPTIONS", "/v1/uploads", access: .anyone, isSafe: true, handler: describeUploads),
      route("POST", "/v1/uploads", access: .key([.submit]), bodyLimit: limit, handler: createUpload),
      route("GET", "/v1/uploads/{id}", access: .key([.submit]), handler: readUpload),
      route("PATCH", "/v1/uploads/{id}", access: .key([.submit]), bodyLimit: limit, handler: appendToUpload),
      route("DELETE", "/v1/uploads/{id}", access: .key([.submit]), handler: deleteUpload),
      // For clients that can send no other method (tus 1.0, X-HTTP-Method-Override).
      route("POST", "/v1/uploads/{id}", access: .key([.submit]), bodyLimit: limit, handler: overrideMethod),
    ]
  }

  /// The lifetime of an upload that no submission names, in seconds.
  private static let uploadLifetime: Double = 86_400

  /// The maximum length of an upload: that of the largest file of any submission.
  private var maxUploadBytes: Int64 {
    max(
      definitions.moment.limits.bytes, definitions.clip.limits.bytes,
      definitions.photos.values.map(\.limits.bytes).max() ?? 0)
  }

  static func uploadNotFound(_ id: String) -> Problem {
    ProblemKind.uploadNotFound.problem("The upload \(id) does not exist.")
  }

  private func describeUploads(_ request: Request) async throws -> Response {
    Response(
      .noContent,
      headers: [
        "Tus-Resumable": UploadDialect.tusVersion, "Tus-Version": UploadDialect.tusVersion,
        "Tus-Extension": UploadDialect.tusExtensions, "Tus-Max-Size": "\(maxUploadBytes)",
        "Upload-Limit": "max-size=\(maxUploadBytes), max-age=\(Int(Self.uploadLifetime))",
        "Allow": "OPTIONS, POST",
      ])
  }

  private func createUpload(_ request: Request) async throws -> Response {
    let dialect = UploadDialect(request.headers)
    let creation = try dialect.creation(request.head)
    try check(length: creation.length)
    try mediaSpace.check()
    let now = Date.now
    let record = UploadRecord(
      user: request.caller.user, length: creation.length,
      metadata: creation.metadata, createdAt: now, expiresAt: now.addingTimeInterval(Self.uploadLifetime))
    try blobs.uploads().create(record)
    var response = Response(.created)
    let appending = UploadDialect.Appending(
      offset: 0, length: creation.length, isComplete: creation.isComplete)
    let state =
      creation.hasContent || creation.length == 0
      ? try await append(request, appending, to: record)
      : UploadDialect.State(offset: 0, length: creation.length, isWhole: false)
    response.headers = dialect.headers(state, expiresAt: record.expiresAt, maxBytes: maxUploadBytes)
    response.headers["Location"] = Self.location(of: record.id, for: request.head)
    return response
  }

  /// The URL of an upload. It is absolute if its scheme is known, since clients of tus exist that append a path to the URL
  /// they have sent to; a proxy says the scheme as `X-Forwarded-Proto`.
  static func location(of id: PublicID, for head: RequestHead) -> String {
    let path = "/v1/uploads/\(id)"
    let isForwarded = ["X-Forwarded-For", "Forwarded", "Via"].contains { head.headers[$0] != nil }
    let scheme = head.headers["X-Forwarded-Proto"] ?? (isForwarded ? nil : "http")
    guard let scheme, ["http", "https"].contains(scheme), let authority = head.authority else { return path }
    return "\(scheme)://\(authority)\(path)"
  }

  /// Reads the state of an upload: the offset at which the client goes on. HEAD ends the request that sends to it, which the
  /// client has given up; GET, for people and back-ends, does not.
  private func readUpload(_ request: Request) async throws -> Response {
    let dialect = UploadDialect(request.headers)
    try dialect.check(request.head)
    let record = try record(of: request)
    let state =
      request.method == "HEAD"
      ? try await uploadTurns.take(record.id, request) { try self.state(of: record) } : try state(of: record)
    var headers = dialect.headers(state, expiresAt: record.expiresAt, maxBytes: maxUploadBytes)
    if request.method == "HEAD", dialect != .tus { return Response(.noContent, headers: headers) }
    if dialect == .tus { headers["Upload-Metadata"] = record.metadata }
    return .json(.ok, try JSON.encode(UploadResponse(record, state)), headers: headers)
  }

  private func appendToUpload(_ request: Request) async throws -> Response {
    let dialect = UploadDialect(request.headers)
    let record = try record(of: request)
    // What guards an upload against others is its offset.
    try request.checkVersion(of: nil)
    let appending = try dialect.appending(request.head)
    do {
      let state = try await append(request, appending, to: record)
      let headers = dialect.headers(state, expiresAt: record.expiresAt, maxBytes: maxUploadBytes)
      return Response(.noContent, headers: headers)
    } catch var problem as Problem {
      problem = dialect.type(of: problem)
      if dialect == .tus { problem.headers["Tus-Resumable"] = UploadDialect.tusVersion }
      throw problem
    }
  }

  private func deleteUpload(_ request: Request) async throws -> Response {
    let dialect = UploadDialect(request.headers)
    try dialect.check(request.head)
    let record = try record(of: request)
    try request.checkVersion(of: nil)
    _ = try await uploadTurns.take(record.id, request) { try blobs.uploads().remove(record.id) }
    uploadHashes.forget(record.id)
    return Response(
      .noContent, headers: dialect == .tus ? ["Tus-Resumable": UploadDialect.tusVersion] : [:])
  }

  private func overrideMethod(_ request: Request) async throws -> Response {
    switch request.headers["X-HTTP-Method-Override"] {
    case "PATCH": return try await appendToUpload(request)
    case "DELETE": return try await deleteUpload(request)
    default: throw UploadDialect.invalid("X-HTTP-Method-Override", "expected PATCH or DELETE")
    }
  }

  // MARK: Steps

  /// Throws a problem if an upload would be too long.
  private func check(length: Int64?) throws(Problem) {
    guard let length, length > maxUploadBytes else { return }
    throw ProblemKind.uploadTooLarge.problem("The upload has \(length) bytes; at most \(maxUploadBytes) are accepted.")
  }

  /// Reads the upload of the path; throws a problem with status 404 if it does not exist, has expired, or is another
  /// client's.
  private func record(of request: Request) throws -> UploadRecord {
    let text = request.parameter("id")
    guard let id = PublicID(text), let record = try record(id, of: request.caller) else {
      throw Self.uploadNotFound(text)
    }
    return record
  }

  /// Reads an upload of a caller; nil if it does not exist, has expired, or is another client's.
  func record(_ id: PublicID, of caller: Caller) throws -> UploadRecord? {
    guard let record = try blobs.uploads().record(id), record.expiresAt > .now, caller.viewer.owns(record.user)
    else { return nil }
    return record
  }

  private func state(of record: UploadRecord) throws -> UploadDialect.State {
    guard let state = try blobs.uploads().open(record.id)?.synchronizedState() else {
      throw Self.uploadNotFound("\(record.id)")
    }
    return UploadDialect.State(
      offset: state.offset, length: state.isWhole ? state.offset : record.length, isWhole: state.isWhole)
  }

  /// Appends the body of a request to an upload as it arrives. What has arrived stays, whatever ends the request.
  private func append(
    _ request: Request, _ appending: UploadDialect.Appending, to record: UploadRecord
  ) async throws -> UploadDialect.State {
    try mediaSpace.check()
    return try await uploadParts.admit(request.client) {
      try await appendOnTurn(request, appending, to: record)
    }
  }

  private func appendOnTurn(
    _ request: Request, _ appending: UploadDialect.Appending, to record: UploadRecord
  ) async throws -> UploadDialect.State {
    try await uploadTurns.take(record.id, request) {
      guard let file = try blobs.uploads().open(record.id) else { throw Self.uploadNotFound("\(record.id)") }
      let state = try file.synchronizedState()
      guard state.offset == appending.offset else { throw Self.offset(state.offset, not: appending.offset) }
      guard !state.isWhole else {
        throw ProblemKind.uploadWhole.problem("The upload is whole.", headers: ["Upload-Offset": "\(state.offset)"])
      }
      let record = try known(appending.length, of: record)
      let limit = record.length ?? maxUploadBytes
      let hash = uploadHashes.resume(record.id, at: state.offset)
      var offset = state.offset
      do {
        for try await chunk in request.body {
          guard offset + Int64(chunk.count) <= limit else {
            throw ProblemKind.uploadTooLarge.problem("The body passes the length of the upload, \(limit) bytes.")
          }
          let isAppended = try chunk.withUnsafeBytes { bytes in
            hash?.update(bytes)
            return try file.append(bytes, at: offset)
          }
          guard isAppended else { throw Self.offset(try file.synchronizedState().offset, not: offset) }
          offset += Int64(chunk.count)
        }
      } catch {
        uploadHashes.keep(hash, of: record.id, at: offset, isWhole: false)
        throw error
      }
      let isWhole = offset == record.length || record.length == nil && appending.isComplete
      uploadHashes.keep(hash, of: record.id, at: offset, isWhole: isWhole)
      guard isWhole else {
        return UploadDialect.State(offset: try file.synchronizedState().offset, length: record.length, isWhole: false)
      }
      guard try file.complete(at: offset) else { throw Self.offset(try file.synchronizedState().offset, not: offset) }
      return UploadDialect.State(offset: offset, length: offset, isWhole: true)
    }
  }

  /// Returns the record with the length that a request says; throws a problem if an earlier one has said another.
  private func known(_ length: Int64?, of record: UploadRecord) throws -> UploadRecord {
    guard let length, length != record.length else { return record }
    if let former = record.length {
      throw ProblemKind.uploadLength.problem("The length of the upload is \(former) bytes, not \(length).")
    }
    try check(length: length)
    var record = record
    record.length = length
    try blobs.uploads().save(record)
    return record
  }

  private static func offset(_ expected: Int64, not given: Int64) -> Problem {
    ProblemKind.uploadOffset.problem(
      "The next byte is at \(expected), not at \(given).",
      members: [
        .init(name: "expected-offset", value: .integer(expected)),
        .init(name: "provided-offset", value: .integer(given)),
      ], headers: ["Upload-Offset": "\(expected)", "Cache-Control": "no-store"])
  }
}

/// The JSON of an upload.
private struct UploadResponse: Encodable {
  let id: PublicID
  let offset: Int64
  let length: Int64?
  let isWhole: Bool
  let createdAt: Date
  let expiresAt: Date

  init(_ record: UploadRecord, _ state: UploadDialect.State) {
    id = record.id
    offset = state.offset
    length = state.length
    isWhole = state.isWhole
    createdAt = record.createdAt
    expiresAt = record.expiresAt
  }
}
