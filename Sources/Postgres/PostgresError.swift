internal import CPostgres

/// What PostgreSQL, or the way to it, refused: which statement, why, and what to do about it.
///
/// It never holds a password: connection strings are not repeated, and libpq's own messages do not name it.
package struct PostgresError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What kind of failure it is, for those who decide what to do next.
  package enum Kind: Sendable, Hashable {
    /// The server refused a statement.
    case server
    /// The connection broke; whether the last statement took effect is unknown.
    case connectionLost
    /// The server could not be reached in time; nothing was sent.
    case unavailable
    /// All connections of a pool were in use for too long; nothing was sent.
    case exhausted
    /// A column is missing or is not of the type asked for.
    case decoding
    /// The call itself was wrong.
    case usage
  }

  package let kind: Kind
  /// The five characters of PostgreSQL's appendix A, if the server said anything.
  package let sqlState: String?
  package let message: String
  /// The server's detail and hint, if any.
  package let detail: String?
  /// The name of the statement, or the start of its text.
  package let statement: String?
  /// The name of the violated constraint, if that is what happened.
  package let constraint: String?
  /// What would help.
  package let remedy: String?

  package init(
    _ kind: Kind, _ message: String, sqlState: String? = nil, detail: String? = nil, statement: String? = nil,
    constraint: String? = nil, remedy: String? = nil
  ) {
    self.kind = kind
    self.message = message
    self.sqlState = sqlState
    self.detail = detail
    self.statement = statement
    self.constraint = constraint
    self.remedy = remedy
  }

  /// Whether the connection broke: a transaction that was open has been rolled back, a commit may have happened.
  package var isConnectionLost: Bool { kind == .connectionLost }

  /// Whether nothing was done because the server could not be reached: try again later.
  package var isUnavailable: Bool { kind == .unavailable }

  /// Whether nothing was done because all connections of a pool were in use: the database is there, and too much is asked
  /// of it.
  package var isExhausted: Bool { kind == .exhausted }

  /// Whether the server takes no writes: a standby, or one that was set read-only before a failover
  /// (read_only_sql_transaction).
  package var isReadOnly: Bool { sqlState == "25006" }

  /// Whether the same transaction, run once more, may succeed (serialization failure, deadlock).
  package var isConflict: Bool { sqlState == "40001" || sqlState == "40P01" }

  /// Whether the server lacks what everybody needs, such as room on its disk, or the disk itself (classes 53 and 58): the
  /// same may succeed later.
  package var isStarved: Bool { sqlState?.hasPrefix("53") == true || sqlState?.hasPrefix("58") == true }

  /// Whether nothing is wrong with the transaction: the same, run again later, may succeed. A job whose end fails so keeps
  /// its attempt, and whoever can wait tries again.
  package var isTransient: Bool {
    isUnavailable || isExhausted || isConnectionLost || isConflict || isStarved || isReadOnly
  }

  /// Whether a statement was given up: it took longer than it may, or nobody waits for it any longer (query_canceled).
  package var isCanceled: Bool { sqlState == "57014" }

  /// Whether a value is none that the server can hold (class 22, data exception).
  package var isInvalidValue: Bool { sqlState?.hasPrefix("22") == true }

  /// Whether a unique constraint was violated.
  package var isDuplicate: Bool { sqlState == "23505" }

  /// Whether a check constraint was violated.
  package var isCheckViolation: Bool { sqlState == "23514" }

  /// Whether a lock could not be had within `lock_timeout` (lock_not_available).
  package var isLockTimeout: Bool { sqlState == "55P03" }

  package var description: String {
    var text = "postgres"
    if let statement { text += " \(statement)" }
    text += ": \(message)"
    if let sqlState { text += " (\(sqlState))" }
    if let detail { text += ": \(detail)" }
    if let remedy { text += ". \(remedy)" }
    return text
  }
}

extension PostgresError {
  /// Classes and codes of appendix A after which the session is gone, whatever libpq thinks of the socket.
  private static let endings: Set<String> = ["57P01", "57P02", "57P04", "57P05", "25P03"]

  /// A prepared statement is not there, or is there already: this session knows what it prepared, so somebody changes
  /// the server's connections behind it.
  private static let strangersStatements: Set<String> = ["26000", "42P05"]

  /// The error in a result, or nil if the statement succeeded.
  init?(result: OpaquePointer?, connection: OpaquePointer, statement: String) {
    switch PQresultStatus(result) {
    case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY, PGRES_COPY_IN: return nil
    default: break
    }
    func field(_ code: Int32) -> String? { PQresultErrorField(result, code).map { String(cString: $0) } }
    let sqlState = field(cpostgres_diag_sqlstate)
    // What carries no state was never said by a server: libpq could not send or read, but may not have closed yet.
    let broken = PQstatus(connection) == CONNECTION_BAD || (result != nil && sqlState == nil)
    let ended = sqlState.map { Self.endings.contains($0) || $0.hasPrefix("08") } ?? false
    let remedy: String? =
      if broken || ended {
        "The transaction did not end; it is safe to run it again if it is idempotent"
      } else if sqlState.map(Self.strangersStatements.contains) ?? false {
        "A pooler in between lends connections for a transaction only: say so with --pooling transaction"
      } else {
        nil
      }
    let hints = [field(cpostgres_diag_message_detail), field(cpostgres_diag_message_hint)].compactMap { $0 }
    self.init(
      broken || ended ? .connectionLost : .server,
      field(cpostgres_diag_message_primary) ?? Self.lastMessage(of: connection),
      sqlState: sqlState, detail: hints.isEmpty ? nil : hints.joined(separator: " "), statement: statement,
      constraint: field(cpostgres_diag_constraint_name), remedy: remedy)
  }

  /// What libpq last said about a connection, on one line.
  static func lastMessage(of connection: OpaquePointer) -> String {
    guard let text = PQerrorMessage(connection) else { return "no message" }
    let lines = String(cString: text).split(whereSeparator: \.isNewline)
    return lines.isEmpty ? "the connection was closed" : lines.joined(separator: " ")
  }
}
