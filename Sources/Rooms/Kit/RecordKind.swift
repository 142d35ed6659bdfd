internal import HTTPServer
internal import Model
internal import Postgres
import Store

/// A kind of record that users see and report, and that moderators decide about. Its place in reports and cases, the problem of its
/// absence and the options of `take5 moderation` follow from it.
struct RecordKind: Sendable {
  /// What was locked for a comment, a report or a decision.
  struct Locked {
    /// The user who may delete comments on it; nil: there is none.
    var owner: String?
    /// Whether the viewer sees and writes the comments on it.
    var admitsComments = true
    /// The record, if it is a comment.
    var comment: Comment?
  }

  let kind: RecordID.Kind
  /// The segment of its paths, such as `posts`.
  let path: String
  /// The table, whose key `moderation_case` refers to.
  let table: String
  /// SQL of the user whose record a row of the table is.
  let author: String
  /// The problem of a record that does not exist, or that the client does not see, and its detail.
  let problem: ProblemKind
  let missing: @Sendable (String) -> String
  /// Locks a record until the transaction ends; nil if the viewer sees none with this id.
  let lock: @Sendable (RecordID, Viewer, Session) throws -> Locked?
  /// Whether the viewer sees a record with an id; nil: no other room asks that.
  let exists: (@Sendable (String, Viewer, Session) throws -> Bool)?
  /// What the viewer is to a record with an id: nil if there is no such record, and a role of nil if the viewer does not see it. Nil: the
  /// records have no roles.
  let role: (@Sendable (String, Viewer, Session) throws -> StoredCollection.Role??)?
  /// Hides a locked record, or shows it; nil: moderators suspend it instead.
  let setHidden: (@Sendable (RecordID, Locked, Bool, Session) throws -> Void)?

  init(
    _ kind: RecordID.Kind, path: String? = nil, table: String? = nil, author: String, missing problem: ProblemKind,
    _ missing: @escaping @Sendable (String) -> String,
    lock: @escaping @Sendable (RecordID, Viewer, Session) throws -> Locked?,
    exists: (@Sendable (String, Viewer, Session) throws -> Bool)? = nil,
    role: (@Sendable (String, Viewer, Session) throws -> StoredCollection.Role??)? = nil,
    setHidden: (@Sendable (RecordID, Locked, Bool, Session) throws -> Void)? = nil
  ) {
    self.kind = kind
    self.path = path ?? kind.name + "s"
    self.table = table ?? kind.name
    self.author = author
    self.problem = problem
    self.missing = missing
    self.lock = lock
    self.exists = exists
    self.role = role
    self.setHidden = setHidden
  }
}

/// A room with a kind of record.
protocol RecordRoom: Room {
  static var record: RecordKind { get }
}

extension RecordID {
  /// The id if the record is of a kind, otherwise nil.
  func id(ifOf kind: Kind) -> String? { kind == self.kind ? id : nil }
}
