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
    // The handlers bound the bodies: what they refuse, they refuse as the protocols say. No method is safe, because clients of tus
    // may say another one in X-HTTP-Method-Override.
    func upload(_ method: String, _ template: String, _ handler: @escaping Route.Handler) -> Route {
      route(
        method, template, access: .key([.submit]), bodyLimit: .max, isSafe: false, waitsForDisk: true, isResumable: true,
        handler: handler)
    }
    return [
      route("OPTIONS", "/v1/uploads", access: .anyone, isSafe: true, handler: describeUploads),
      upload("POST", "/v1/uploads", createUpload),
    ] + ["DELETE", "GET", "PATCH", "POST"].map { upload($0, "/v1/uploads/{id}", handleUpload) }
  }

  /// The header fields of every response to a request of uploads.
  func uploadFields(_ head: RequestHead) -> HeaderFields {
    UploadDialect.commonFields(head, limits: (maxUploadBytes, uploadLifetime))
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
    Response(.noContent, headers: ["Allow": "OPTIONS, POST"])
  }

  private func createUpload(_ request: Request) async throws -> Response {
    let dialect = UploadDialect(request.headers)
    var record: UploadRecord?
    do {
      try dialect.check(request.head)
      switch dialect.method(of: request.head) {
      case "POST": return try await create(&record, request, dialect)
      case "OPTIONS": return try await describeUploads(request)
      default: throw Self.wrongMethod(request, allowed: "OPTIONS, POST")
      }
    } catch {
      throw completing(error, dialect, record)
    }
  }

  private func handleUpload(_ request: Request) async throws -> Response {
    let dialect = UploadDialect(request.headers)
    var record: UploadRecord?
    do {
      try dialect.check(request.head)
      let method = dialect.method(of: request.head)
      guard ["DELETE", "GET", "HEAD", "PATCH"].contains(method) else {
        throw Self.wrongMethod(request, allowed: "DELETE, GET, HEAD, PATCH")
      }
      if method != "PATCH" { try dialect.checkWithoutContent(request.head) }
      let found = try self.record(of: request)
      record = found
      switch method {
      case "PATCH": return try await appendToUpload(found, request, dialect)
      case "DELETE": return try await deleteUpload(found, request)
      default: return try await readUpload(found, request, dialect, isHead: method == "HEAD")
      }
    } catch {
      throw completing(error, dialect, record)
    }
  }

  private func create(
    _ created: inout UploadRecord?, _ request: Request, _ dialect: UploadDialect
  ) async throws -> Response {
    let creation = try dialect.creation(request.head)
    try check(length: creation.length)
    try check(request.head.contentLength, from: 0, of: creation.length, dialect)
    let now = Date.now
    var record = UploadRecord(
      user: request.caller.user, length: creation.length, metadata: creation.metadata,
      digest: try ReprDigest.sha256(request.headers)?.hex, createdAt: now,
      expiresAt: now.addingTimeInterval(uploadLifetime))
    return try await uploadParts.admit(request.client) {
      try mediaSpace.check(reserving: creation.length ?? 0)
      record.charged = try await charge(request, to: record, upTo: creation.length ?? request.head.contentLength)
      try blobs.uploads().create(record)
      created = record
      let location = Self.location(of: record.id, for: request.head)
      let isAnnounced = creation.hasContent && announce(record, at: location, request, dialect)
      do {
        let state =
          creation.hasContent || creation.isComplete
          ? try await append(
            request, dialect, .init(offset: 0, length: creation.length, isComplete: creation.isComplete), to: record)
          : UploadDialect.State(offset: 0, length: creation.length, isWhole: false)
        return response(.created, state, record, request, dialect, location: location)
      } catch {
        // A client that does not know the upload creates another one.
        if !isAnnounced {
          remove([record.id])
          created = nil
        }
        throw error
      }
    }
  }

  /// Sends the URL of an upload before its bytes come, so that the client can go on from there even if the response never
  /// comes; returns whether it was sent.
  private func announce(
    _ record: UploadRecord, at location: String, _ request: Request, _ dialect: UploadDialect
  ) -> Bool {
    guard var fields = dialect.interim(request) else { return false }
    fields["Location"] = location
    fields["Upload-Limit"] = dialect.limit(expiresAt: record.expiresAt, maxBytes: maxUploadBytes)
    request.sendInterim(.uploadResumptionSupported, fields)
    return true
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

  /// Reads the state of an upload: the offset at which the client goes on.
  ///
  /// A client of an upload protocol has given up the request that sends to the upload, which ends here: the offset stays what it
  /// is. GET of people and back-ends ends nothing, and so has no field that says where to go on.
  private func readUpload(
    _ record: UploadRecord, _ request: Request, _ dialect: UploadDialect, isHead: Bool
  ) async throws -> Response {
    let isObserved = !isHead && dialect == .draft && request.headers["Upload-Draft-Interop-Version"] == nil
    if isObserved { return .json(.ok, try JSON.encode(UploadResponse(record, try state(of: record)))) }
    let state = try await uploadTurns.take(record.id, request) {
      // Read again: the request that has ended may have changed it.
      let record = try blobs.uploads().record(record.id) ?? record
      return try await self.state(of: record, for: dialect, request, isHead: isHead)
    }
    var headers = dialect.headers(state, expiresAt: record.expiresAt, maxBytes: maxUploadBytes)
    if dialect == .tus {
      headers["Upload-Metadata"] = record.metadata
      if state.length == nil { headers["Upload-Defer-Length"] = "1" }
    } else if isHead {
      ReprDigest.add(contents.hash(of: record.id), to: &headers, askedBy: request.headers)
      return Response(.noContent, headers: headers)
    }
    if isHead && request.method != "HEAD" { return Response(.ok, headers: headers) }
    return .json(.ok, try JSON.encode(UploadResponse(record, state)), headers: headers)
  }

  /// The state of an upload on the turn of a request that reads it.
  private func state(
    of record: UploadRecord, for dialect: UploadDialect, _ request: Request, isHead: Bool
  ) async throws -> UploadDialect.State {
    var state = try state(of: record)
    switch dialect {
    case .tus:
      if isHead, record.refusal != nil { throw Self.uploadRefused }
      // An upload is whole at its length. The service may have ended between the last byte and the mark.
      guard record.refusal == nil, !state.isWhole, state.offset == state.length else { return state }
      return try await completeAtLength(record, request)
    // The request that was refused has ended the upload.
    case .draft: if record.refusal != nil { state.isWhole = true }
    case .draft01: break
    }
    return state
  }

  private func appendToUpload(
    _ record: UploadRecord, _ request: Request, _ dialect: UploadDialect
  ) async throws -> Response {
    // What guards an upload against others is its offset.
    try request.checkVersion(of: nil)
    // It lasts, whatever the request says.
    if let reason = record.refusal { throw UploadRefusal(reason) }
    let appending = try dialect.appending(request.head)
    let state = try await uploadParts.admit(request.client) {
      try mediaSpace.check()
      return try await append(request, dialect, appending, to: record)
    }
    // The last response of a draft is that of a creation with all bytes.
    let isCreation = dialect == .draft && state.isWhole || dialect == .draft01
    return response(
      isCreation ? .created : .noContent, state, record, request, dialect,
      location: isCreation ? Self.location(of: record.id, for: request.head) : nil)
  }

  private func deleteUpload(_ record: UploadRecord, _ request: Request) async throws -> Response {
    try request.checkVersion(of: nil)
    _ = try await uploadTurns.take(record.id, request) { try blobs.uploads().remove(record.id) }
    contents.forget(record.id)
    return Response(.noContent)
  }

  // MARK: Responses

  private func response(
    _ status: Status, _ state: UploadDialect.State, _ record: UploadRecord, _ request: Request,
    _ dialect: UploadDialect, location: String?
  ) -> Response {
    var headers = dialect.headers(state, expiresAt: record.expiresAt, maxBytes: maxUploadBytes)
    headers["Location"] = location
    if state.isWhole { ReprDigest.add(contents.hash(of: record.id), to: &headers, askedBy: request.headers) }
    return Response(status, headers: headers)
  }

  /// Returns an error as the problem that its protocol describes; one that is none stays as it is.
  private func completing(_ error: any Error, _ dialect: UploadDialect, _ record: UploadRecord?) -> any Error {
    let problem: Problem
    switch error {
    case let error as Problem: problem = error
    case let refusal as UploadRefusal: problem = refusal.reason.problem
    case let error as BodyError: problem = error.problem
    default:
      guard let outage = OutageProblem.problem(for: error) else { return error }
      problem = outage
    }
    let offset = record.flatMap { record in try? state(of: record).offset }
    return dialect.completing(
      problem, record, offset: offset, isFinal: error is UploadRefusal,
      limit: dialect.limit(
        expiresAt: record?.expiresAt ?? .now.addingTimeInterval(uploadLifetime), maxBytes: maxUploadBytes))
  }

  private static func wrongMethod(_ request: Request, allowed: String) -> Problem {
    Problem(
      .methodNotAllowed, detail: "\(request.target.path) does not support the method.",
      remedy: "Use one of: \(allowed).",
      headers: ["Allow": allowed])
  }

  /// The answer of HEAD in tus, whose clients then create another upload: GET has the reason.
  private static let uploadRefused = Problem(
    .gone, detail: "The upload is refused.", remedy: "Read the reason with GET, and create a new upload.")

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
