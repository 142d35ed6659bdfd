package import Model
package import Platform
package import Postgres
package import Queue

/// A capability of the app: what it stores, and what the core does with that without knowing it.
///
/// The composition root gives all rooms to the `Store`, so that none is forgotten.
package protocol Room: SendableMetatype {
  static var statements: Statements { get }

  /// Its tables in the baseline of the schema.
  static var schema: [EmbeddedText] { get }

  /// Later changes of them.
  static var migrations: [Migration] { get }

  /// What deletes what nothing asks for any more.
  static var maintenance: [MaintenanceTask] { get }

  /// Its tables with rows that may hold a value which cannot be used.
  static var settingAside: [SetAside.Table] { get }

  /// What a user takes along, besides posts and images.
  static var exports: [Export] { get }

  /// How a user is deleted, step by step; the rooms after this one come before it.
  static var forgetting: [ForgettingStep] { get }

  /// The faults of rows that contradict each other.
  static var checks: [RowCheck] { get }

  /// Learns that the media of a post are ready, or held, in the transaction of that.
  static func note(_ status: PostStatus, of post: PublicID, _ session: Session) throws
}

extension Room {
  package static var schema: [EmbeddedText] { [] }
  package static var migrations: [Migration] { [] }
  package static var maintenance: [MaintenanceTask] { [] }
  package static var settingAside: [SetAside.Table] { [] }
  package static var exports: [Export] { [] }
  package static var forgetting: [ForgettingStep] { [] }
  package static var checks: [RowCheck] { [] }
  package static func note(_ status: PostStatus, of post: PublicID, _ session: Session) throws {}
}

extension [any Room.Type] {
  /// All tables with rows that may be set aside: of the core and of the rooms.
  package var settingAside: [SetAside.Table] { [.blobDamage] + flatMap { $0.settingAside } }
}

extension MaintenanceTask {
  /// A task that runs each hour, until it has deleted all that it finds.
  package init(_ name: String, deleting delete: @escaping @Sendable (Session) throws -> Int) {
    self.init(name, every: .seconds(3600)) { pool in
      try await pool.run { session in while try delete(session) > 0 {} }
    }
  }
}

/// Records of a user that go into the archive of the user, each page as a file of a folder.
package struct Export: Sendable {
  package let folder: String
  /// Its parameters are the user, the number of the last record of the page before, and the number of records.
  private let statement: Statement
  private let number: String
  private let item: @Sendable (Row, String, Session) throws -> (any Encodable & Sendable)?

  /// - Parameters:
  ///   - number: the column by which the records are ordered.
  ///   - item: makes the JSON of a record of a user from a row.
  package init(
    _ folder: String, _ statement: Statement, by number: String = "id",
    _ item: @escaping @Sendable (Row, String, Session) throws -> (any Encodable & Sendable)?
  ) {
    self.folder = folder
    self.statement = statement
    self.number = number
    self.item = item
  }

  package init(
    _ folder: String, _ statement: Statement, by number: String = "id",
    _ item: @escaping @Sendable (Row) throws -> any Encodable & Sendable
  ) {
    self.init(folder, statement, by: number) { row, _, _ in try item(row) }
  }

  /// Reads a page of the records of a user, the oldest first.
  ///
  /// - Parameter last: the number of the last record of the page before; 0 for the first page.
  /// - Returns: the records, and the number of the last one.
  package func page(
    of user: String, after last: Int64, limit: Int, _ session: Session
  ) throws -> (items: [any Encodable & Sendable], last: Int64) {
    let rows = Array(try session.execute(statement, .text(user), .integer(last), .integer(limit)))
    return (try rows.compactMap { try item($0, user, session) }, try rows.last?.get(number) ?? last)
  }
}

/// A check of rows against those from which they follow, and its repair.
package struct RowCheck: Sendable {
  /// The kind of the checked record, such as `user`.
  package let kind: String
  /// Reads the rows after the position `$1`, which is empty at first, at most `$2`, in the order of their `position`: the `id`, and
  /// the `code` and the `detail` of the fault, NULL if there is none.
  package let statement: Statement
  /// The name of the number of rows in a report; nil: they are not counted.
  package let counted: String?
  /// Corrects the row with an id, under the locks that its writers take, in a transaction.
  package let repair: @Sendable (String, Session) throws -> Void

  package init(
    _ kind: String, _ statement: Statement, counted: String? = nil,
    repair: @escaping @Sendable (String, Session) throws -> Void
  ) {
    self.kind = kind
    self.statement = statement
    self.counted = counted
    self.repair = repair
  }

  /// - Parameter repair: statements with the id as `$1`.
  package init(_ kind: String, _ statement: Statement, counted: String? = nil, repair: [Statement]) {
    self.init(kind, statement, counted: counted) { id, session in
      for statement in repair { try session.execute(statement, .text(id)) }
    }
  }
}
