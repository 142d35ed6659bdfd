import CQueueSQL
package import Platform
package import Postgres
import Telemetry

/// The rows of which one value cannot be read or computed with, such as one of a later version, or one that the server does not know any
/// more. What works for many users goes on with the other rows, notes such a row here, and tries it again each hour.
package enum SetAside {
  static let statements = Statements(topic: "set_aside", QueueSQL.SetAside)

  /// A failpoint before and after each statement.
  package static var failpoints: [Failpoint] { statements.failpoints }

  /// A table that has such rows; who works on it declares it.
  package struct Table: Sendable, Hashable {
    package let name: String

    package init(_ name: String) { self.name = name }
  }

  /// The time for which a row is set aside, in seconds; the statement repeats it.
  package static let seconds = 3600

  /// Whether an error comes from a row's value, rather than from the connection, the server or the program.
  package static func isOfRow(_ error: any Error) -> Bool {
    guard let error = error as? PostgresError else { return false }
    // Of a number that a type cannot have, such as an infinite one, the server says that it does not support it (0A000).
    return error.isInvalidValue || error.sqlState == "0A000" || error.kind == .decoding
  }

  /// Notes a row, in the transaction of the caller's, if there is one.
  package static func note(
    _ table: Table, _ key: String, because reason: String, _ session: Session
  ) throws(PostgresError) {
    try session.execute(statements["set_aside"], .text(table.name), .text(key), .text(reason))
  }

  /// Notes a row by the error that its use made. The values of the row, which may be a user's, are no part of it.
  package static func note(
    _ table: Table, _ key: String, _ error: any Error, _ session: Session
  ) throws(PostgresError) {
    var reason = "\(error)"
    if let error = error as? PostgresError, let state = error.sqlState {
      reason = "SQLSTATE \(state)" + (error.statement.map { " of \($0)" } ?? "")
    }
    try note(table, key, because: reason, session)
  }

  /// The number of the rows that are set aside at present, of each table; a given one without such rows has 0.
  static func gauges(_ tables: [Table], _ session: Session) throws(PostgresError) -> [MetricGauge] {
    var counts = Dictionary(tables.map { ($0.name, 0) }) { first, _ in first }
    for row in try session.execute(statements["counts"]) { counts[try row.get("relation")] = try row.get("rows") }
    return counts.map { table, rows in
      MetricGauge(
        "take5_rows_set_aside", "Rows that hold a value which cannot be used; the worker tries them again each hour.",
        ["table": table], Double(rows))
    }
  }
}
