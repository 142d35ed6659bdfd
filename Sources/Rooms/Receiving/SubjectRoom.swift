internal import Kit
internal import Model
internal import Postgres
internal import Store

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
