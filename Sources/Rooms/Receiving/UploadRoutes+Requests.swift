internal import Blobs
internal import Crypto
import FoundationEssentials
internal import HTTPServer
internal import Kit
internal import Model

/// The requests of uploads, whatever protocol and method they name.
extension UploadRoutes {
  func create(
    _ created: inout UploadRecord?, _ request: Request, _ dialect: UploadDialect
  ) async throws -> Response {
    let creation = try dialect.creation(request.head)
    try check(length: creation.length)
    try check(request.head.contentLength, from: 0, of: creation.length, dialect)
    let digest = try ReprDigest.sha256(request.headers)?.hex
    // An API key that acts as no user may create those of all users of an app.
    if let user = request.caller.user { try access.countSubmission(of: user, request) }
    let now = Date.now
    var record = UploadRecord(
      user: request.caller.user, key: request.caller.user == nil ? request.caller.tenant : nil, length: creation.length,
      metadata: creation.metadata, digest: digest, createdAt: now,
      expiresAt: now.addingTimeInterval(uploads.lifetime), idle: uploads.idle)
    return try await parts.admit(request) {
      try space.check(reserving: creation.length ?? 0)
      try await uploads.openUploads.create(&record, in: uploads.folder()) { record in
        record.charged = try await charge(request, to: record, upTo: creation.length ?? request.head.contentLength)
      }
      created = record
      let location = Self.location(of: record.id, for: request.head, at: access.publicURL)
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
          uploads.remove([record.id])
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
    fields["Upload-Limit"] = dialect.limit(expiresAt: uploads.expiry(of: record), maxBytes: maxUploadBytes)
    request.sendInterim(.uploadResumptionSupported, fields)
    return true
  }

  /// The URL of an upload. It is absolute if its scheme is known, since clients of tus exist that append a path to the URL
  /// they have sent to; a proxy says the scheme as `X-Forwarded-Proto`.
  ///
  /// - Parameter url: where clients reach the service; nil: as the request says.
  static func location(of id: PublicID, for head: RequestHead, at url: PublicURL?) -> String {
    let path = "/v1/uploads/\(id)"
    if let url { return "\(url)\(path)" }
    let isForwarded = ["X-Forwarded-For", "Forwarded", "Via"].contains { head.headers[$0] != nil }
    let scheme = head.headers["X-Forwarded-Proto"] ?? (isForwarded ? nil : "http")
    guard let scheme, ["http", "https"].contains(scheme), let authority = head.authority else { return path }
    return "\(scheme)://\(authority)\(path)"
  }

  /// Reads the state of an upload: the offset at which the client goes on.
  ///
  /// A client of an upload protocol has given up the request that sends to the upload, which ends here: the offset stays what it
  /// is. GET of people and back-ends ends nothing, and so has no field that says where to go on.
  func readUpload(
    _ record: UploadRecord, _ request: Request, _ dialect: UploadDialect, isHead: Bool
  ) async throws -> Response {
    let isObserved = !isHead && dialect == .draft && request.headers["Upload-Draft-Interop-Version"] == nil
    if isObserved {
      let state = try uploads.state(of: record)
      return .json(
        .ok, try JSON.encode(UploadResponse(record, state, expiresAt: uploads.expiry(of: record))),
        headers: ["Cache-Control": "no-store"])
    }
    let state = try await turns.take(record.id, request) {
      // Read again: the request that has ended may have changed it.
      let record = try uploads.folder().record(record.id) ?? record
      return try await self.state(of: record, for: dialect, request, isHead: isHead)
    }
    let expiresAt = uploads.expiry(of: record)
    var headers = dialect.headers(state, expiresAt: expiresAt, maxBytes: maxUploadBytes)
    if dialect == .tus {
      headers["Upload-Metadata"] = record.metadata
      if state.length == nil { headers["Upload-Defer-Length"] = "1" }
    } else if isHead {
      ReprDigest.add(uploads.contents.hash(of: record.id), to: &headers, askedBy: request.headers)
      return Response(.noContent, headers: headers)
    }
    if isHead && request.method != "HEAD" { return Response(.ok, headers: headers) }
    headers["Cache-Control"] = "no-store"
    return .json(.ok, try JSON.encode(UploadResponse(record, state, expiresAt: expiresAt)), headers: headers)
  }

  /// The state of an upload on the turn of a request that reads it.
  private func state(
    of record: UploadRecord, for dialect: UploadDialect, _ request: Request, isHead: Bool
  ) async throws -> UploadDialect.State {
    var state = try uploads.state(of: record)
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

  func appendToUpload(
    _ record: UploadRecord, _ request: Request, _ dialect: UploadDialect
  ) async throws -> Response {
    // What guards an upload against others is its offset.
    try request.checkVersion(of: nil)
    // It lasts, whatever the request says.
    if let reason = record.refusal { throw UploadRefusal(reason) }
    let appending = try dialect.appending(request.head)
    let state = try await parts.admit(request) {
      try space.checkFree()
      return try await append(request, dialect, appending, to: record)
    }
    // The last response of a draft is that of a creation with all bytes.
    let isCreation = dialect == .draft && state.isWhole || dialect == .draft01
    return response(
      isCreation ? .created : .noContent, state, record, request, dialect,
      location: isCreation ? Self.location(of: record.id, for: request.head, at: access.publicURL) : nil)
  }

  func deleteUpload(_ record: UploadRecord, _ request: Request) async throws -> Response {
    try request.checkVersion(of: nil)
    _ = try await turns.take(record.id, request) { try uploads.folder().remove(record.id) }
    uploads.contents.forget(record.id)
    uploads.openUploads.remove(record.id)
    return Response(.noContent)
  }

  private func response(
    _ status: Status, _ state: UploadDialect.State, _ record: UploadRecord, _ request: Request,
    _ dialect: UploadDialect, location: String?
  ) -> Response {
    var headers = dialect.headers(state, expiresAt: uploads.expiry(of: record), maxBytes: maxUploadBytes)
    headers["Location"] = location
    if state.isWhole { ReprDigest.add(uploads.contents.hash(of: record.id), to: &headers, askedBy: request.headers) }
    return Response(status, headers: headers)
  }

  /// The answer of HEAD in tus, without a body: its clients then create another upload. GET has the reason.
  private static let uploadRefused = Problem(
    .gone, type: ProblemKind.mediaRejected.type, title: "The upload is refused", detail: "The upload is refused.",
    remedy: "Read the reason with GET, and create a new upload.")
}

/// The JSON of an upload; values that do not apply are null.
private struct UploadResponse: NilEncodable {
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

  init(_ record: UploadRecord, _ state: UploadDialect.State, expiresAt: Date) {
    id = record.id
    offset = state.offset
    length = state.length
    isWhole = state.isWhole
    reason = record.refusal
    post = record.awaited?.post
    createdAt = record.createdAt
    self.expiresAt = expiresAt
  }
}
