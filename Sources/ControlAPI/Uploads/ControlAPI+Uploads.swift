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
      route(
        "POST", "/v1/uploads", access: .key([.submit]), bodyLimit: limit, waitsForDisk: true, handler: createUpload),
      route("GET", "/v1/uploads/{id}", access: .key([.submit]), waitsForDisk: true, handler: readUpload),
      route(
        "PATCH", "/v1/uploads/{id}", access: .key([.submit]), bodyLimit: limit, waitsForDisk: true,
        handler: appendToUpload),
      route("DELETE", "/v1/uploads/{id}", access: .key([.submit]), waitsForDisk: true, handler: deleteUpload),
      // For clients that can send no other method (tus 1.0, X-HTTP-Method-Override).
      route(
        "POST", "/v1/uploads/{id}", access: .key([.submit]), bodyLimit: limit, waitsForDisk: true,
        handler: overrideMethod),
    ]
  }

  /// The maximum length of an upload: that of the largest file of any submission.
  var maxUploadBytes: Int64 {
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
        "Upload-Limit": "max-size=\(maxUploadBytes), max-age=\(Int(uploadLifetime))",
        "Allow": "OPTIONS, POST",
      ])
  }

  private func createUpload(_ request: Request) async throws -> Response {
    let dialect = UploadDialect(request.headers)
    let creation = try dialect.creation(request.head)
    try check(length: creation.length)
    try mediaSpace.check(reserving: creation.length ?? 0)
    let now = Date.now
    var record = UploadRecord(
      user: request.caller.user, length: creation.length, metadata: creation.metadata,
      digest: try ReprDigest.sha256(request.headers)?.hex, createdAt: now,
      expiresAt: now.addingTimeInterval(uploadLifetime))
    record.charged = try await charge(request, to: record, upTo: creation.length ?? request.head.contentLength)
    try blobs.uploads().create(record)
    let location = Self.location(of: record.id, for: request.head)
    var response = Response(.created)
    let appending = UploadDialect.Appending(
      offset: 0, length: creation.length, isComplete: creation.isComplete)
    // The client can go on from here even if the response never comes.
    let limit = dialect.limit(expiresAt: record.expiresAt, maxBytes: maxUploadBytes)
    if creation.hasContent, request.head.contentLength != 0, let fields = dialect.interim(request.head, limit) {
      request.sendInterim(.uploadResumptionSupported, fields.adding("Location", location))
    }
    let state =
      creation.hasContent || creation.length == 0
      ? try await append(request, dialect, appending, to: record)
      : UploadDialect.State(offset: 0, length: creation.length, isWhole: false)
    response.headers = dialect.headers(state, expiresAt: record.expiresAt, maxBytes: maxUploadBytes)
    response.headers["Location"] = location
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
    if request.method == "HEAD", let refusal = record.refusal { throw refusal.problem(of: dialect) }
    var headers = dialect.headers(state, expiresAt: record.expiresAt, maxBytes: maxUploadBytes)
    ReprDigest.add(contents.hash(of: record.id), to: &headers, askedBy: request.headers)
    if request.method == "HEAD", dialect != .tus { return Response(.noContent, headers: headers) }
    if dialect == .tus { headers["Upload-Metadata"] = record.metadata }
    return .json(.ok, try JSON.encode(UploadResponse(record, state)), headers: headers)
  }

  private func appendToUpload(_ request: Request) async throws -> Response {
    let dialect = UploadDialect(request.headers)
    let record = try record(of: request)
    // What guards an upload against others is its offset.
    try request.checkVersion(of: nil)
    if let refusal = record.refusal { throw refusal.problem(of: dialect) }
    let appending = try dialect.appending(request.head)
    do {
      let state = try await append(request, dialect, appending, to: record)
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
    contents.forget(record.id)
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
  func check(length: Int64?) throws(Problem) {
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

  func state(of record: UploadRecord) throws -> UploadDialect.State {
    guard let state = try blobs.uploads().open(record.id)?.synchronizedState() else {
      throw Self.uploadNotFound("\(record.id)")
    }
    return UploadDialect.State(
      offset: state.offset, length: state.isWhole ? state.offset : record.length, isWhole: state.isWhole)
  }
}

/// The JSON of an upload.
private struct UploadResponse: Encodable {
  let id: PublicID
  let offset: Int64
  let length: Int64?
  let isWhole: Bool
  /// Why nothing can be made of the upload.
  let reason: Reason?
  /// The post that awaits the upload.
  let post: PublicID?
  let createdAt: Date
  let expiresAt: Date

  init(_ record: UploadRecord, _ state: UploadDialect.State) {
    id = record.id
    offset = state.offset
    length = state.length
    isWhole = state.isWhole
    reason = record.refusal
    post = record.awaited?.post
    createdAt = record.createdAt
    expiresAt = record.expiresAt
  }
  private enum CodingKeys: String, CodingKey {
    case id, offset, length, isWhole, reason, post, createdAt, expiresAt
  }

  /// Every key is present.
  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(id, forKey: .id)
    try container.encode(offset, forKey: .offset)
    try container.encode(length, forKey: .length)
    try container.encode(isWhole, forKey: .isWhole)
    try container.encode(reason, forKey: .reason)
    try container.encode(post, forKey: .post)
    try container.encode(createdAt, forKey: .createdAt)
    try container.encode(expiresAt, forKey: .expiresAt)
  }
}
