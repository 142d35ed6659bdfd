internal import CPostgres
import Glibc
package import Platform

/// An open connection, used by one thread, its `Connection`'s.
///
/// Each prepared statement, and each begin and end of a transaction, has failpoints before and after it.
package final class Session {
  /// What statements are for, which decides how long they run and wait for locks.
  package enum Purpose: Sendable {
    /// The service itself, such as its workers and its maintenance.
    case service
    /// A client that has asked for it.
    case request
    /// What only reads, for a client or for the service.
    case reading
  }

  /// A setting that is not the same for all purposes.
  private struct Setting {
    let name: String
    /// For the purposes that have no value of their own.
    let other: String
    let own: [Purpose: String]

    func value(for purpose: Purpose) -> String { own[purpose] ?? other }
  }

  let handle: OpaquePointer
  // False in transaction pooling: the next transaction may use another server connection, which lacks the statements.
  private let preparesStatements: Bool
  // In transaction pooling other clients use the server connection in between: each transaction sets its limits again.
  private let limits: String
  private let settings: [Setting]
  // Whose settings the session has.
  private var purpose = Purpose.service
  private var prepared = PreparedStatements()
  // The ends of pipelines whose results are still unread.
  var unreadPipelines = 0
  // The BEGIN that is sent with the next statement.
  var pendingBegin: Statement?
  // The statements that are sent right behind the next COMMIT.
  var followers: [BoundStatement] = []
  /// Whether the server has refused a write because it is read-only.
  private(set) var isReadOnly = false

  /// Connects; throws if the server cannot be reached or refuses the connection.
  init(_ url: DatabaseURL) throws(PostgresError) {
    let handle = url.withKeywordsAndValues { keywords, values in
      Failpoint.connect.around { PQconnectdbParams(keywords, values, 0) }
    }
    guard let handle else {
      throw PostgresError(.unavailable, "out of memory")
    }
    guard PQstatus(handle) == CONNECTION_OK else {
      defer { PQfinish(handle) }
      throw PostgresError(
        .unavailable, PostgresError.lastMessage(of: handle), sqlState: Self.refusal(by: url),
        remedy: "Check that PostgreSQL runs and that the database URL is right: \(url)")
    }
    PQsetNoticeProcessor(handle, ignoreNotice, nil)
    self.handle = handle
    preparesStatements = url.pooling == .session
    var limits = ["idle_in_transaction_session_timeout = \(url.idleTransactionLimit.wholeMilliseconds)"]
    if let limit = url.statementLimit { limits.append("statement_timeout = \(limit.wholeMilliseconds)") }
    settings = Self.settings(url)
    if preparesStatements {
      self.limits = ""
      try executeScript(limits.map { "SET \($0)" }.joined(separator: "; "), name: "SET")
    } else {
      self.limits = limits.map { "; SET LOCAL \($0)" }.joined()
    }
  }

  private static func settings(_ url: DatabaseURL) -> [Setting] {
    func text(_ limit: Duration?) -> String? { limit.map { "\($0.wholeMilliseconds)" } }
    var (locks, statements): ([Purpose: String], [Purpose: String]) = ([:], [:])
    locks[.request] = text(url.requestLockLimit)
    locks[.reading] = text(url.readLockLimit)
    statements[.reading] = text(url.readLimit)
    return [
      Setting(name: "lock_timeout", other: "DEFAULT", own: locks),
      Setting(name: "statement_timeout", other: text(url.statementLimit) ?? "DEFAULT", own: statements),
    ]
  }

  /// The SQLSTATE by which a server refuses connections, in whatever language it writes messages; nil: no server does.
  ///
  /// libpq has it in messages alone, if asked in the middle of a connection. `PQconnectdbParams`, which gives each of several servers its
  /// time, leaves no such moment.
  private static func refusal(by url: DatabaseURL) -> String? {
    guard let handle = url.withKeywordsAndValues({ PQconnectStartParams($0, $1, 0) }) else { return nil }
    defer { PQfinish(handle) }
    PQsetErrorVerbosity(handle, PQERRORS_SQLSTATE)
    let end = ContinuousClock.now + .seconds(1)
    var state = PGRES_POLLING_WRITING
    // A server that cannot be reached ends the connection at its start: there is no socket to wait for.
    while PQstatus(handle) != CONNECTION_BAD, state == PGRES_POLLING_READING || state == PGRES_POLLING_WRITING {
      let events = state == PGRES_POLLING_READING ? POLLIN : POLLOUT
      var request = pollfd(fd: PQsocket(handle), events: Int16(events), revents: 0)
      let left = ContinuousClock.now.duration(to: end).wholeMilliseconds
      guard left > 0, poll(&request, 1, Int32(left)) > 0 else { return nil }
      state = PQconnectPoll(handle)
    }
    return PostgresError.lastMessage(of: handle).wholeMatch(of: /.*: +([0-9A-Z]{5})/).map { String($0.1) }
  }

  deinit { PQfinish(handle) }

  /// The settings that each transaction makes; empty if the session's remain.
  var limitsOfTransaction: String {
    guard !limits.isEmpty else { return limits }
    return limits
      + settings.compactMap { setting in
        setting.own[purpose].map { "; SET LOCAL \(setting.name) = \($0)" }
      }.joined()
  }

  /// Sets how long the following statements run and wait for locks. The pool gives out a connection that was last used for the same purpose
  /// if there is one, so that nothing is to be set then.
  func setPurpose(_ purpose: Purpose) throws(PostgresError) {
    guard purpose != self.purpose else { return }
    if preparesStatements {
      let changed = settings.filter { $0.value(for: purpose) != $0.value(for: self.purpose) }
      if !changed.isEmpty {
        let script = changed.map { "SET \($0.name) = \($0.value(for: purpose))" }.joined(separator: "; ")
        try executeScript(script, name: "SET")
      }
    }
    self.purpose = purpose
  }

  /// Connects on the calling thread, with growing pauses while the server is unreachable or starting.
  ///
  /// - Parameter timeout: the time for which it is tried; a refusal that is not transient is thrown at once.
  package static func connect(
    _ url: DatabaseURL, timeout: Duration
  ) throws(PostgresError) -> Session {
    let end = ContinuousClock.now + timeout
    var pause = 10_000 as UInt32
    while true {
      do {
        return try Session(url)
      } catch {
        guard error.isTransientRefusal, ContinuousClock.now + .microseconds(Int64(pause)) < end else { throw error }
        // Blocks only the thread of this connection.
        usleep(pause)
        pause = min(pause * 2, 250_000)
      }
    }
  }

  /// Cancels the statement that runs on this session, from any thread; nil if there is no memory for it.
  private(set) lazy var cancellation = PQgetCancel(handle).map { StatementCancellation($0) }

  /// The socket, for poll(2).
  var socket: Int32 { PQsocket(handle) }

  /// Whether the connection goes through a pooler: the backend PID of the protocol (PostgreSQL manual, "Message Flow",
  /// `BackendKeyData`) is then the pooler's and differs from `pg_backend_pid()`.
  package func isPooled() throws(PostgresError) -> Bool {
    let process = try execute("SELECT pg_backend_pid()").single().get(0, as: Int64.self)
    return process != Int64(PQbackendPID(handle))
  }

  /// The number of times that the server has read a page with a wrong checksum, of this database or of what all databases share, since
  /// its statistics were reset; 0 without data checksums.
  package func checksumFailures() throws(PostgresError) -> Int {
    try execute(
      """
      SELECT coalesce(sum(checksum_failures), 0)::bigint FROM pg_stat_database
      WHERE datname = current_database() OR datid = 0
      """
    ).single().get(0)
  }

  /// Whether a transaction is open, including a failed one.
  package var isInTransaction: Bool {
    if pendingBegin != nil { return true }
    let status = PQtransactionStatus(handle)
    return status == PQTRANS_INTRANS || status == PQTRANS_INERROR
  }

  /// Whether the connection is open, judging by the socket alone.
  var isAlive: Bool {
    // Unread messages, such as a notice or the error of a shutdown, come before the end of the stream.
    for _ in 0..<16 where PQstatus(handle) == CONNECTION_OK {
      var request = pollfd(fd: PQsocket(handle), events: Int16(POLLIN), revents: 0)
      guard poll(&request, 1, 0) > 0 else { return true }
      guard PQconsumeInput(handle) == 1 else { return false }
    }
    return PQstatus(handle) == CONNECTION_OK
  }

  /// Executes one statement and returns its rows.
  @discardableResult
  package func execute(_ statement: Statement, _ parameters: Parameter...) throws(PostgresError) -> Rows {
    try execute(statement, parameters)
  }

  /// Executes one statement and returns its rows.
  @discardableResult
  package func execute(_ statement: Statement, _ parameters: [Parameter]) throws(PostgresError) -> Rows {
    guard Failpoints.areArmed, let failpoint = statement.failpoint else { return try send(statement, parameters) }
    return try interruptible(failpoint) { () throws(PostgresError) in try send(statement, parameters) }
  }

  /// Executes several statements without parameters, such as a migration.
  package func executeScript(_ script: String, name: String, failpoint: Failpoint? = nil) throws(PostgresError) {
    _ = try run(script, name: name, failpoint: failpoint)
  }

  /// Subscribes to the notifications of a channel; the name is quoted.
  package func listen(to channel: String) throws(PostgresError) {
    let name = channel.replacing("\"", with: "\"\"")
    try executeScript("LISTEN \"\(name)\"", name: "LISTEN", failpoint: .listen)
  }

  /// The next notification that has arrived; does not wait.
  func nextNotification() throws(PostgresError) -> Notification? {
    guard PQconsumeInput(handle) == 1 else {
      throw PostgresError(.connectionLost, PostgresError.lastMessage(of: handle))
    }
    guard let notify = PQnotifies(handle) else { return nil }
    defer { PQfreemem(notify) }
    return Notification(
      channel: String(cString: notify.pointee.relname), payload: String(cString: notify.pointee.extra))
  }

  /// Binds parameters to a statement, and prepares it if the session prepares statements.
  func bind(_ statement: Statement, _ parameters: [Parameter]) throws(PostgresError) -> BoundStatement {
    let name = statement.isPrepared && preparesStatements ? try prepare(statement, for: parameters) : nil
    return BoundStatement(statement: statement, preparedName: name, parameters: parameters)
  }

  private func send(_ statement: Statement, _ parameters: [Parameter]) throws(PostgresError) -> Rows {
    try drainPipeline()
    let bound = try bind(statement, parameters)
    if pendingBegin != nil { return Rows(try sendTogether([bound])[0]) }
    let result = bound.withValues { count, values, lengths, formats in
      if let name = bound.preparedName { return PQexecPrepared(handle, name, count, values, lengths, formats, 1) }
      return PQexecParams(handle, statement.text, count, parameters.map(\.type), values, lengths, formats, 1)
    }
    return Rows(try check(result, statement.name))
  }

  private func prepare(_ statement: Statement, for parameters: [Parameter]) throws(PostgresError) -> String {
    if let name = prepared.use(statement) { return name }
    if let surplus = prepared.surplus {
      _ = try check(
        PQexec(handle, "DEALLOCATE \"\(surplus.name.replacing("\"", with: "\"\""))\""), surplus.statement.name)
      prepared.remove(surplus.statement)
    }
    let name = statement.preparedName
    let types = parameters.map(\.type)
    _ = try check(PQprepare(handle, name, statement.text, Int32(types.count), types), statement.name)
    prepared.insert(statement, name: name)
    return name
  }

  func run(_ script: String, name: String, failpoint: Failpoint?) throws(PostgresError) -> ResultHandle {
    try drainPipeline()
    try sendBegin()
    guard Failpoints.areArmed, let failpoint else { return try check(PQexec(handle, script), name) }
    return try interruptible(failpoint) { () throws(PostgresError) in try check(PQexec(handle, script), name) }
  }

  func check(_ result: OpaquePointer?, _ statement: String) throws(PostgresError) -> ResultHandle {
    if let error = PostgresError(result: result, connection: handle, statement: statement) {
      PQclear(result)
      if error.isReadOnly { isReadOnly = true }
      throw error
    }
    guard let result else { throw PostgresError(.connectionLost, "no result", statement: statement) }
    return ResultHandle(result, statement: statement)
  }
}

/// A statement with its parameters.
struct BoundStatement {
  let statement: Statement
  /// The name of the prepared statement; nil: the text is parsed at each execution.
  let preparedName: String?
  let parameters: [Parameter]

  /// Calls `body` with the number, the values, the lengths and the formats of the parameters, as libpq takes them.
  func withValues<Result>(_ body: (Int32, [UnsafePointer<CChar>?], [Int32], [Int32]) -> Result) -> Result {
    let lengths = parameters.map { Int32($0.bytes?.count ?? 0) }
    let formats = parameters.map { Int32($0.isBinary ? 1 : 0) }
    // One buffer for all values: the elements of an array of arrays have no stable addresses.
    var buffer: [UInt8] = []
    var offsets: [Int?] = []
    for parameter in parameters {
      offsets.append(parameter.bytes == nil ? nil : buffer.count)
      buffer += parameter.bytes ?? []
      buffer.append(0)
    }
    return buffer.withUnsafeBytes { bytes in
      let values = offsets.map { offset in
        offset.flatMap { bytes.baseAddress?.advanced(by: $0).assumingMemoryBound(to: CChar.self) }
      }
      return body(Int32(parameters.count), values, lengths, formats)
    }
  }
}

// Notices such as "relation exists, skipping" must not be printed to standard error.
private func ignoreNotice(_ context: UnsafeMutableRawPointer?, _ message: UnsafePointer<CChar>?) {}
