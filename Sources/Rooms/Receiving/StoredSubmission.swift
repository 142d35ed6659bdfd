internal import HTTPServer
internal import Kit
internal import Model
internal import Postgres
internal import Store

/// What a submission has stored, with the response to its request.
struct StoredSubmission: Sendable {
  /// The post or the image; nil for what has no media.
  let subject: Subject?
  /// The job that makes the outputs; nil if there is none, or for a replay, whose subject has it.
  let job: PublicID?
  let status: Status
  /// The header field `Location`.
  let location: String?
  /// JSON.
  let body: [UInt8]
  /// The header field `ETag`: the version in the response, which the next change names.
  let tag: String?
  /// Whether the response is that of an earlier request with the same idempotency key.
  let isReplay: Bool

  /// Reads a post or an image that the caller's transaction has inserted. It is accepted if it is still to be processed,
  /// otherwise created.
  ///
  /// Nil if the viewer does not see it: of a post, another transaction may have committed a block, the end of a friendship or a
  /// decision of a moderator since the post was found.
  init?(_ subject: Subject, _ viewer: Viewer, _ urls: MediaURLs, _ session: Session) throws {
    guard let content = try subject.content(viewer, urls, session) else { return nil }
    self.subject = subject
    job = content.job?.id
    status = content.isProcessing ? .accepted : .created
    location = subject.path
    body = content.body
    tag = content.tag
    isReplay = false
  }

  /// Something without media, such as a comment, which has no job.
  ///
  /// - Parameters:
  ///   - json: its JSON.
  ///   - path: its path.
  init<Created: Versioned>(created: Created, _ json: some Encodable, at path: String) throws {
    subject = nil
    job = nil
    status = .created
    location = path
    body = try JSON.encode(json)
    tag = try created.entityTag().description
    isReplay = false
  }

  /// The response that an earlier request has stored.
  init(replaying stored: IdempotentResponse) {
    subject = stored.location.flatMap { Subject(path: $0) }
    job = nil
    status = [Status.ok, .created, .accepted].first { $0.code == stored.status } ?? .ok
    location = stored.location
    body = stored.body
    tag = stored.tag
    isReplay = true
  }

  /// The response as it is stored for repetitions of the request.
  var idempotentResponse: IdempotentResponse {
    IdempotentResponse(status: status.code, location: location, body: body, tag: tag)
  }

  var response: Response {
    var headers: HeaderFields = ["Content-Type": "application/json", "Cache-Control": "no-store"]
    headers["Location"] = location
    headers["ETag"] = tag
    if isReplay { headers["Idempotency-Replayed"] = "true" }
    return Response(status, headers: headers, body: .bytes(body))
  }
}

/// A room whose records are made of media, which submissions bring: each `Subject` is one of them.
protocol SubjectRoom: RecordRoom {
  /// Reads the JSON of a record, its version, and its job; nil if the viewer sees none with this id.
  static func content(
    of id: PublicID, for viewer: Viewer, _ urls: MediaURLs, _ session: Session
  ) throws -> SubjectContent?

  /// Reads what a post has besides its media, which may be still to come; nil: there is none, and other records await nothing.
  static func draft(of id: PublicID, _ session: Session) throws -> PostDraft?
}

extension SubjectRoom {
  static func draft(of id: PublicID, _ session: Session) throws -> PostDraft? { nil }
}

/// What a response says of a post or an image.
struct SubjectContent: Sendable {
  let job: JobSummary?
  /// Whether the viewer made it.
  let isOwn: Bool
  let isProcessing: Bool
  /// Whether there is something to see.
  let showsMedia: Bool
  /// JSON.
  let body: [UInt8]
  let tag: String
}

extension Wait.Goal {
  func isReached(by content: SubjectContent) -> Bool { !content.isProcessing || self == .look && content.showsMedia }
}

extension Subject {
  private static let rooms = [any Room.Type].all.compactMap { $0 as? any SubjectRoom.Type }

  private var record: RecordID {
    switch self {
    case .post(let id): .post(id)
    case .image(let id): .image(id)
    }
  }

  /// The path of the post or the image.
  var path: String { record.path }

  /// Returns the subject with this path; nil if it is the path of something else.
  init?(path: String) {
    guard let id = path.split(separator: "/").last.flatMap({ PublicID($0) }),
      let subject = [Subject.post(id), .image(id)].first(where: { $0.path == path })
    else { return nil }
    self = subject
  }

  private var room: (any SubjectRoom.Type)? { Self.rooms.first { $0.record.kind == record.kind } }

  /// Reads the JSON of the post or the image, its version, and its job; nil if the viewer sees no such subject.
  func content(
    _ viewer: Viewer, _ urls: MediaURLs, _ session: Session
  ) throws -> SubjectContent? {
    try room?.content(of: id, for: viewer, urls, session)
  }

  /// Reads what a post has besides its media; nil if there is no such post.
  func draft(_ session: Session) throws -> PostDraft? { try room?.draft(of: id, session) }
}
