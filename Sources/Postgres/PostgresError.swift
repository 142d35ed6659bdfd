internal import CPostgres

/// An error of PostgreSQL or of the connection to it, with the statement and a remedy.
///
/// It never contains a password: it does not repeat connection strings, and libpq's messages do not contain passwords.
package struct PostgresError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kind of failure, which determines whether the caller may try again.
  package enum Kind: Sendable, Hashable {
    /// The server refused a statement.
    case server
    /// The connection was lost; whether the last statement took effect is unknown.
    case connectionLost
    /// The server could not be reached within the timeout; nothing was sent.
    case unavailable
    /// All connections of the pool were in use for the entire timeout; nothing was sent.
    case exhausted
    /// The client of the task used its share of the pool (`PoolClient`) for the entire timeout, or too many of its tasks wait; nothing was sent.
    case shareUsed
    /// A column is missing or does not have the requested type.
    case decoding
    /// The caller made an error.
    case usage
  }

  package let kind: Kind
  /// The five-character SQLSTATE (PostgreSQL manual, appendix A); nil if the error is not the server's.
  package let sqlState: String?
  package let message: String
  /// The server's detail and hint.
  package let detail: String?
  /// The name of the statement, or the start of its text.
  package let statement: String?
  /// The name of the violated constraint.
  package let constraint: String?
  /// What to do about it.
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

  /// Whether the connection was lost: an open transaction was rolled back, a commit may have succeeded.
  package var isConnectionLost: Bool { kind == .connectionLost }

  /// Whether nothing was sent because the server could not be reached.
  package var isUnavailable: Bool { kind == .unavailable }

  /// Whether nothing was sent because all connections of the pool were in use.
  package var isExhausted: Bool { kind == .exhausted }

  /// Whether nothing was sent because the client of the task uses its share of the pool.
  package var isShareUsed: Bool { kind == .shareUsed }

  /// Whether the server refuses writes, as a standby or a server that was set read-only before a failover
  /// (read_only_sql_transaction).
  package var isReadOnly: Bool { sqlState == "25006" }

  /// Whether the transaction failed because of concurrent ones (serialization_failure, deadlock_detected).
  package var isConflict: Bool { sqlState == "40001" || sqlState == "40P01" }

  /// Whether the schema does not have a table or a column that a statement names: it is older than the program.
  package var isUndefined: Bool { sqlState == "42P01" || sqlState == "42703" }

  /// Whether the server lacks a resource, such as disk space, or has a system error (classes 53 and 58).
  package var isOutOfResources: Bool { sqlState?.hasPrefix("53") == true || sqlState?.hasPrefix("58") == true }

  /// Whether the same transaction may succeed later.
  package var isTransient: Bool {
    isUnavailable || isExhausted || isShareUsed || isConnectionLost || isConflict || isOutOfResources || isReadOnly
  }

  /// Whether the database is away and may come back by itself: it was not reached, or refuses connections or writes for a time. A wrong
  /// password or name is no outage.
  package var isOutage: Bool { isUnavailable ? isTransientRefusal : isConnectionLost || isOutOfResources || isReadOnly }

  /// Whether a statement was cancelled, by `statement_timeout` or by a cancel request (query_canceled).
  package var isCanceled: Bool { sqlState == "57014" }

  /// Whether the server cannot represent a value (class 22, data exception).
  package var isInvalidValue: Bool { sqlState?.hasPrefix("22") == true }

  /// Whether a check constraint was violated.
  package var isCheckViolation: Bool { sqlState == "23514" }

  /// Whether a lock was not available within `lock_timeout` (lock_not_available).
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
  /// The SQLSTATEs after which the session is closed, even if the socket is still open.
  private static let sessionClosed: Set<String> = ["57P01", "57P02", "57P04", "57P05", "25P03"]

  /// A prepared statement is unknown or exists already: a pooler gave this session another server connection.
  private static let preparedStatementErrors: Set<String> = ["26000", "42P05"]

  /// The error in a result, or nil if the statement succeeded.
  init?(result: OpaquePointer?, connection: OpaquePointer, statement: String) {
    switch PQresultStatus(result) {
    case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY, PGRES_COPY_IN: return nil
    default: break
    }
    func field(_ code: Int32) -> String? { PQresultErrorField(result, code).map { String(cString: $0) } }
    let sqlState = field(cpostgres_diag_sqlstate)
    // An error without an SQLSTATE is libpq's: it could not send or receive, but may not have closed the socket yet.
    let broken = PQstatus(connection) == CONNECTION_BAD || (result != nil && sqlState == nil)
    let ended = sqlState.map { Self.sessionClosed.contains($0) || $0.hasPrefix("08") } ?? false
    let remedy: String? =
      if broken || ended {
        "Whether the transaction was committed is unknown; run it again if it is idempotent"
      } else if sqlState.map(Self.preparedStatementErrors.contains) ?? false {
        "A connection pooler in transaction mode is in use: set --pooling transaction"
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

  /// libpq's last message about a connection, on one line.
  static func lastMessage(of connection: OpaquePointer) -> String {
    guard let text = PQerrorMessage(connection) else { return "no message" }
    let lines = String(cString: text).split(whereSeparator: \.isNewline)
    return lines.isEmpty ? "the connection was closed" : lines.joined(separator: " ")
  }
}

extension PostgresError {
  /// Whether a refused connection may succeed later.
  var isTransientRefusal: Bool {
    switch sqlState {
    case nil, "08P01"?:
      // Messages of libpq, in English as the program sets no locale, and of PgBouncer, which refuses with this one state whatever it
      // does not know or cannot do at present.
      let permanent = [
        "password", "does not exist", "no pg_hba.conf entry", "not permitted", "invalid", "no such database",
        "no such user", "unsupported startup parameter", "does not support SSL", "certificate",
      ]
      return isUnavailable && (message.contains("No such file") || !permanent.contains { message.contains($0) })
    case let state?:
      // An invalid setting, authorization or name, and a feature that the server lacks.
      return !["0A", "22", "28", "3D", "42"].contains(state.prefix(2))
    }
  }
}
