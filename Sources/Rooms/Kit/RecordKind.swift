internal import HTTPServer
package import Model
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

extension RecordKind {
  static let all = [any Room.Type].all.compactMap { ($0 as? any RecordRoom.Type)?.record }

  /// The fragments of statements about the subjects of cases, of which each row `opened` of `moderation_case` has one.
  static let fragments = [
    "subject_ids": all.map { record in
      let column = "opened.\(record.column)"
      guard !record.kind.isNamed else { return column }
      return "(SELECT public_id FROM \(record.table) AS subject WHERE subject.id = \(column)) AS \(record.kind.name)"
    }.joined(separator: ", "),
    "subject_authors": all.map { record in
      record.kind == .user
        ? "opened.user_id"
        : "(SELECT \(record.author) FROM \(record.table) WHERE \(record.table).id = opened.\(record.column))"
    }.joined(separator: ", "),
  ]

  /// The column of `moderation_case` that refers to the record.
  var column: String { kind.name + "_id" }

  /// A statement about the case of a subject of this kind, whose id is `$1`.
  func fill(_ statement: Statement) -> Statement {
    statement.filled(
      kind.name,
      [
        "column": column,
        "subject": kind.isNamed ? "$1" : "(SELECT id FROM \(table) WHERE public_id = $1::uuid)",
      ])
  }

  /// The names of the kinds in a text, such as `post, user and place`.
  static var names: String {
    let names = all.map(\.kind.name)
    return "\(names.dropLast().joined(separator: ", ")) and \(names.last ?? "")"
  }
}

extension RecordID.Kind {
  package static let all = RecordKind.all.map(\.kind)

  var record: RecordKind {
    guard let record = RecordKind.all.first(where: { $0.kind == self }) else {
      preconditionFailure("no room has records of the kind \(name)")
    }
    return record
  }

  /// Whether the viewer sees a record of this kind with an id.
  func exists(_ id: String, for viewer: Viewer, _ session: Session) throws -> Bool {
    try record.exists?(id, viewer, session) == true
  }

  /// Returns what the viewer is to a record of this kind; nil if there is none with this id, and a role of nil if the viewer does not see it.
  func role(_ id: String, for viewer: Viewer, _ session: Session) throws -> StoredCollection.Role?? {
    guard let role = record.role else { return nil }
    return try role(id, viewer, session)
  }
}

extension RecordID {
  /// Locks the record, or what a comment is on, until the transaction ends; nil if the viewer does not see it.
  func lock(for viewer: Viewer, _ session: Session) throws -> RecordKind.Locked? {
    try kind.record.lock(self, viewer, session)
  }

  /// The path of a record, other than a comment.
  var path: String { "/v1/\(kind.record.path)/\(MediaURLs.percentEncoded(id))" }

  /// The id if the record is of a kind, otherwise nil.
  func id(ifOf kind: Kind) -> String? { kind == self.kind ? id : nil }
}

extension KitHolder {
  /// The problem of a record that does not exist, or that the client does not see.
  static func notFound(_ kind: RecordID.Kind, _ id: some CustomStringConvertible) -> Problem {
    kind.record.problem.problem(kind.record.missing("\(id)"))
  }

  static func notFound(_ record: RecordID) -> Problem { notFound(record.kind, record.id) }
}
