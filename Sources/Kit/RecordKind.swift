internal import HTTPServer
package import Model
package import Postgres
package import Store

/// A kind of record that users see and report, and that moderators decide about. Its place in reports and cases, the problem of its
/// absence and the options of `take5 moderation` follow from it.
package struct RecordKind: Sendable {
  /// What was locked for a comment, a report or a decision.
  package struct Locked {
    /// The user who may delete comments on it; nil: there is none.
    package var owner: String?
    /// Whether the viewer sees and writes the comments on it.
    package var admitsComments: Bool
    /// The record, if it is a comment.
    package var comment: Comment?

    package init(owner: String? = nil, admitsComments: Bool = true, comment: Comment? = nil) {
      self.owner = owner
      self.admitsComments = admitsComments
      self.comment = comment
    }
  }

  package let kind: RecordID.Kind
  /// The segment of its paths, such as `posts`.
  package let path: String
  /// The table, whose key cases refer to.
  package let table: String
  /// SQL of the user whose record a row of the table is.
  package let author: String
  /// The problem of a record that does not exist, or that the client does not see, and its detail.
  package let problem: ProblemKind
  package let missing: @Sendable (String) -> String
  /// Locks a record until the transaction ends; nil if the viewer sees none with this id.
  package let lock: @Sendable (RecordID, Viewer, Session) throws -> Locked?
  /// Whether the viewer sees a record with an id; nil: no other room asks that.
  package let exists: (@Sendable (String, Viewer, Session) throws -> Bool)?
  /// What the viewer is to a record with an id: nil if there is no such record, and a role of nil if the viewer does not see it. Nil: the
  /// records have no roles.
  package let role: (@Sendable (String, Viewer, Session) throws -> StoredCollection.Role??)?
  /// Hides a locked record, or shows it; nil: moderators suspend it instead.
  package let setHidden: (@Sendable (RecordID, Locked, Bool, Session) throws -> Void)?

  package init(
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
package protocol RecordRoom: Room {
  static var record: RecordKind { get }
}

extension RecordID {
  /// The id if the record is of a kind, otherwise nil.
  package func id(ifOf kind: Kind) -> String? { kind == self.kind ? id : nil }
}
