import Model
package import Postgres

/// Records in pages: those of lists, the latest first, and those of an archive, the oldest first.
extension Page {
  /// Makes a page of rows, of which one more than the page has was read if there is a next page.
  init(
    _ rows: Rows, _ page: PageRequest, by cursor: (Row) throws -> PageCursor = PageCursor.created,
    _ items: ([Row]) throws -> [Element]
  ) throws {
    let shown = Array(rows.prefix(page.limit))
    self.init(items: try items(shown), next: try rows.count > page.limit ? shown.last.map(cursor) : nil)
  }
}

extension PageCursor {
  /// The position of a row in a list of the latest.
  static func created(_ row: Row) throws(PostgresError) -> PageCursor {
    PageCursor(time: try row.get("created_at"), id: try row.get("id"))
  }

  /// The position of a row in a list of the latest changes.
  static func changed(_ row: Row) throws(PostgresError) -> PageCursor {
    PageCursor(time: try row.get("updated_at"), id: try row.get("id"))
  }

  /// The position of a row in a list by distance, which stands for the time.
  static func near(_ row: Row) throws(PostgresError) -> PageCursor {
    PageCursor(time: try row.get("distance"), id: try row.get("id"))
  }
}

extension PageRequest {
  /// The time and the number that the rows of the page precede, and how many are read, as parameters of a list.
  var parameters: [Parameter] {
    let end = after ?? PageCursor(time: 253_402_300_799_000_000, id: 0)
    return [.timestamp(microseconds: end.time), .integer(end.id), .integer(limit + 1)]
  }
}

extension Session {
  /// Reads from one snapshot, or in the transaction that is open.
  func reading<Value>(_ body: (Session) throws -> Value) throws -> Value {
    try isInTransaction ? body(self) : snapshot(body)
  }
}

/// A kind of record that a user takes along.
package struct ExportedKind<Record: Sendable>: Sendable {
  /// Its parameters are the user, the number of the last record of the page before, and the number of records.
  private let statement: Statement
  private let number: String
  private let record: @Sendable (Row, String, Session) throws -> Record?

  /// - Parameters:
  ///   - number: the column by which the records are ordered.
  ///   - record: reads a record of a user from a row.
  init(
    _ statement: Statement, by number: String = "id",
    _ record: @escaping @Sendable (Row, String, Session) throws -> Record?
  ) {
    self.statement = statement
    self.number = number
    self.record = record
  }

  init(_ statement: Statement, by number: String = "id", _ record: @escaping @Sendable (Row) throws -> Record) {
    self.init(statement, by: number) { row, _, _ in try record(row) }
  }

  /// Reads a page of the records of a user, the oldest first.
  ///
  /// - Parameter last: the number of the last record of the page before; 0 for the first page.
  /// - Returns: the records, and the number of the last one.
  package func page(
    of user: String, after last: Int64, limit: Int, _ session: Session
  ) throws -> (items: [Record], last: Int64) {
    let rows = Array(try session.execute(statement, .text(user), .integer(last), .integer(limit)))
    return (try rows.compactMap { try record($0, user, session) }, try rows.last?.get(number) ?? last)
  }
}
