package import Model
package import Postgres

/// Records in pages: for lists the latest first, for an archive the oldest first.
extension Page {
  /// Makes a page of rows. If there is a next page, the statement has read one row more than the page has.
  package init(
    _ rows: Rows, _ page: PageRequest, by cursor: (Row) throws -> PageCursor = PageCursor.created,
    _ items: ([Row]) throws -> [Element]
  ) throws {
    let shown = Array(rows.prefix(page.limit))
    self.init(items: try items(shown), next: try rows.count > page.limit ? shown.last.map(cursor) : nil)
  }
}

extension PageCursor {
  /// The position of a row in a list of the latest.
  package static func created(_ row: Row) throws(PostgresError) -> PageCursor {
    PageCursor(time: try row.get("created_at"), id: try row.get("id"))
  }

  /// The position of a row in a list of the latest changes.
  package static func changed(_ row: Row) throws(PostgresError) -> PageCursor {
    PageCursor(time: try row.get("updated_at"), id: try row.get("id"))
  }

  /// The position of a row in a list whose order has its own time.
  package static func listed(_ row: Row) throws(PostgresError) -> PageCursor {
    PageCursor(time: try row.get("listed_at"), id: try row.get("id"))
  }

  /// The position of a row in a list by distance, which stands for the time.
  package static func near(_ row: Row) throws(PostgresError) -> PageCursor {
    PageCursor(time: try row.get("distance"), id: try row.get("id"))
  }
}

extension PageRequest {
  /// The time and the number that the rows of the page precede, and how many are read, as parameters of a list.
  package var parameters: [Parameter] {
    let end = after ?? PageCursor(time: 253_402_300_799_000_000, id: 0)
    return [.timestamp(microseconds: end.time), .integer(end.id), .integer(limit + 1)]
  }
}

extension Session {
  /// Reads from one snapshot, or in the transaction that is open.
  package func reading<Value>(_ body: (Session) throws -> Value) throws -> Value {
    try isInTransaction ? body(self) : snapshot(body)
  }
}
