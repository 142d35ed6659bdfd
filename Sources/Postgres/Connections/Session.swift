internal import CPostgres
import Glibc
package import Platform

/// An open connection, used by one thread: the one that its `Connection` owns.
///
/// Every named statement, and every beginning and end of a transaction, is an act with failpoints around it.
package final class Session {
  let handle: OpaquePointer
  // The next transaction may meet another connection of the server, which does not know them.
  private let preparesStatements: Bool
  // A pooler lends the connection to others: what limits it is said anew with the beginning of each transaction.
  private let limitsOfTransaction: String
  private var prepared: [Statement: String] = [:]
  // Whether answers of a pipeline are still to be read.
  private var isPipelining = false
  // What goes to the server behind the next COMMIT.
  private var followers: [BoundStatement] = []
  /// Whether the server refused to write: it is no use to who has something to write.
  private(set) var isReadOnly = false

  /// Connects; an error if the server cannot be reached or refuses.
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
        .unavailable, PostgresError.lastMessage(of: handle),
        remedy: "Check that PostgreSQL runs and that the database URL is right: \(url)")
    }
    PQsetNoticeProcessor(handle, ignoreNotice, nil)
    self.handle = handle
    preparesStatements = url.pooling == .session
    var limits = ["idle_in_transaction_session_timeout = \(url.idleTransactionLimit.wholeMilliseconds)"]
    if let limit = url.statementLimit { limits.append("statement_timeout = \(limit.wholeMilliseconds)") }
    if preparesStatements {
      limitsOfTransaction = ""
      try executeScript(limits.map { "SET \($0)" }.joined(separator: "; "), name: "SET")
    } else {
      limitsOfTransaction = limits.map { "; SET LOCAL \($0)" }.joined()
    }
  }

  deinit { PQfinish(handle) }

  /// What cancels the statement that runs on it, from any thread; nil where there is no memory for it.
  private(set) lazy var cancellation = PQgetCancel(handle).map { StatementCancellation($0) }

  /// The socket, to wait on for notifications.
  var socket: Int32 { PQsocket(handle) }

  /// Whether a pooler stands in between: it gives a connection a number of its own (PostgreSQL manual, "Message Flow",
  /// `BackendKeyData`), while the server tells its own process's.
  package func isPooled() throws(PostgresError) -> Bool {
    let process = try execute("SELECT pg_backend_pid()").single().get(0, as: Int64.self)
    return process != Int64(PQbackendPID(handle))
  }

  /// Whether a transaction is open, be it a failed one.
  package var isInTransaction: Bool {
    let status = PQtransactionStatus(handle)
    return status == PQTRANS_INTRANS || status == PQTRANS_INERROR
  }

  /// Whether the connection still stands, as far as its socket tells without asking the server.
  var isAlive: Bool {
    // What the server said unasked lies before the end of the stream: a farewell, or a notice.
    for _ in 0..<16 where PQstatus(handle) == CONNECTION_OK {
      var request = pollfd(fd: PQsocket(handle), events: Int16(POLLIN), revents: 0)
      guard poll(&request, 1, 0) > 0 else { return true }
      guard PQconsumeInput(handle) == 1 else { return false }
    }
    return PQstatus(handle) == CONNECTION_OK
  }

  /// Runs one statement and returns its rows.
  @discardableResult
  package func execute(_ statement: Statement, _ parameters: Parameter...) throws(PostgresError) -> Rows {
    try execute(statement, parameters)
  }

  /// Runs one statement and returns its rows.
  @discardableResult
  package func execute(_ statement: Statement, _ parameters: [Parameter]) throws(PostgresError) -> Rows {
    guard Failpoints.areArmed, let failpoint = statement.failpoint else { return try send(statement, parameters) }
    return try interruptible(failpoint) { () throws(PostgresError) in try send(statement, parameters) }
  }

  /// Runs a statement behind the COMMIT of the open transaction, and not at all if that rolls back before; at once outside
  /// of one.
  ///
  /// It goes to the server right behind COMMIT, without a further way there and back, and is a transaction of its own: what
  /// locks others, as NOTIFY does, does so after the work is done. It runs also where COMMIT itself fails; what becomes of it
  /// is not told.
  package func executeAfterCommit(_ statement: Statement, _ parameters: Parameter...) throws(PostgresError) {
    guard isInTransaction else {
      try execute(statement, parameters)
      return
    }
    // Now, because nothing else can be sent between COMMIT and what follows it.
    let name = statement.isPrepared && preparesStatements ? try prepare(statement, for: parameters) : nil
    followers.append(BoundStatement(statement: statement, preparedName: name, parameters: parameters))
  }

  // Sends COMMIT with its followers behind it, and waits for the answer to COMMIT alone.
  private func commit(before followers: [BoundStatement]) throws(PostgresError) -> ResultHandle {
    try drainPipeline()
    passBefore(.commit)
    isPipelining = true
    var isSent =
      PQenterPipelineMode(handle) == 1
      && PQsendQueryParams(handle, "COMMIT", 0, nil, nil, nil, nil, 1) == 1 && PQpipelineSync(handle) == 1
    for follower in followers {
      passBefore(follower.statement.failpoint)
      isSent = isSent && send(follower)
    }
    guard isSent, PQpipelineSync(handle) == 1 else {
      throw PostgresError(.connectionLost, PostgresError.lastMessage(of: handle), statement: "COMMIT")
    }
    let result = try check(PQgetResult(handle), "COMMIT")
    try passAfter(.commit)
    // Nobody waits for their answers: what was cut there is the connection of whoever comes next.
    for follower in followers { try? passAfter(follower.statement.failpoint) }
    return result
  }

  // Reads what has not been read of the last pipeline.
  func drainPipeline() throws(PostgresError) {
    guard isPipelining else { return }
    var synchronized = 0
    var ends = 0
    while synchronized < 2 && ends < 3 {
      guard let result = PQgetResult(handle) else {
        ends += 1
        continue
      }
      ends = 0
      if PQresultStatus(result) == PGRES_PIPELINE_SYNC { synchronized += 1 }
      PQclear(result)
    }
    guard PQexitPipelineMode(handle) == 1 else {
      throw PostgresError(.connectionLost, PostgresError.lastMessage(of: handle))
    }
    isPipelining = false
  }

  private func send(_ bound: BoundStatement) -> Bool {
    Self.withValues(of: bound.parameters) { count, values, lengths, formats in
      if let name = bound.preparedName {
        return PQsendQueryPrepared(handle, name, count, values, lengths, formats, 1) == 1
      }
      return PQsendQueryParams(
        handle, bound.statement.text, count, bound.parameters.map(\.type), values, lengths, formats, 1) == 1
    }
  }

  private func send(_ statement: Statement, _ parameters: [Parameter]) throws(PostgresError) -> Rows {
    try drainPipeline()
    let name = statement.isPrepared && preparesStatements ? try prepare(statement, for: parameters) : nil
    let result = Self.withValues(of: parameters) { count, values, lengths, formats in
      if let name { return PQexecPrepared(handle, name, count, values, lengths, formats, 1) }
      return PQexecParams(handle, statement.text, count, parameters.map(\.type), values, lengths, formats, 1)
    }
    return Rows(try check(result, statement.name))
  }

  private static func withValues<Result>(
    of parameters: [Parameter], _ body: (Int32, [UnsafePointer<CChar>?], [Int32], [Int32]) -> Result
  ) -> Result {
    let lengths = parameters.map { Int32($0.bytes?.count ?? 0) }
    let formats = parameters.map { Int32($0.isBinary ? 1 : 0) }
    // One buffer for all values: arrays of arrays have no stable addresses to give to C.
    var buffer: [UInt8] = []
    var places: [Int?] = []
    for parameter in parameters {
      places.append(parameter.bytes == nil ? nil : buffer.count)
      buffer += parameter.bytes ?? []
      buffer.append(0)
    }
    return buffer.withUnsafeBytes { bytes in
      let values = places.map { place in
        place.flatMap { bytes.baseAddress?.advanced(by: $0).assumingMemoryBound(to: CChar.self) }
      }
      return body(Int32(parameters.count), values, lengths, formats)
    }
  }

  /// Runs several statements without parameters, as a migration has them.
  ///
  /// - Parameter failpoint: what the script is called by who interrupts it.
  package func executeScript(_ script: String, name: String, failpoint: Failpoint? = nil) throws(PostgresError) {
    _ = try run(script, name: name, failpoint: failpoint)
  }

  /// Runs `body` inside a transaction: commits when it returns, rolls back when it throws.
  ///
  /// A commit whose answer was lost throws `isConnectionLost`: it may or may not have happened.
  @discardableResult
  package func transaction<Result>(_ body: (Session) throws -> Result) throws -> Result {
    try transaction("BEGIN", body)
  }

  /// Runs `body` so that all it reads is as of one moment; it cannot write.
  package func snapshot<Result>(_ body: (Session) throws -> Result) throws -> Result {
    try transaction("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY", body)
  }

  /// Runs `body` inside the open transaction so that it leaves nothing behind when it throws; what came before it stays.
  package func savepoint<Result>(_ body: (Session) throws -> Result) throws -> Result {
    try executeScript("SAVEPOINT part", name: "SAVEPOINT", failpoint: .savepoint)
    let before = followers.count
    let value: Result
    do {
      value = try body(self)
    } catch {
      followers.removeSubrange(before...)
      try executeScript("ROLLBACK TO part", name: "ROLLBACK TO", failpoint: .rollbackTo)
      throw error
    }
    try executeScript("RELEASE part", name: "RELEASE", failpoint: .release)
    return value
  }

  private func transaction<Result>(_ begin: String, _ body: (Session) throws -> Result) throws -> Result {
    guard !isInTransaction else { throw PostgresError(.usage, "a transaction is open already") }
    try executeScript(begin + limitsOfTransaction, name: "BEGIN", failpoint: .begin)
    followers = []
    let value: Result
    do {
      value = try body(self)
    } catch {
      followers = []
      // If this fails the connection is gone, and with it the transaction.
      try? executeScript("ROLLBACK", name: "ROLLBACK", failpoint: .rollback)
      throw error
    }
    // COMMIT of a failed transaction is a ROLLBACK.
    let following = PQtransactionStatus(handle) == PQTRANS_INERROR ? [] : followers
    followers = []
    let ending =
      following.isEmpty ? try run("COMMIT", name: "COMMIT", failpoint: .commit) : try commit(before: following)
    // The server answers COMMIT of a failed transaction with ROLLBACK, and calls it success.
    guard String(cString: PQcmdStatus(ending.pointer)) == "COMMIT" else {
      throw PostgresError(
        .server, "the transaction was rolled back", sqlState: "25P02", statement: "COMMIT",
        remedy: "A statement in it failed and its error was not passed on")
    }
    return value
  }

  /// Subscribes to the notifications of a channel; its name is taken literally.
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

  private func prepare(_ statement: Statement, for parameters: [Parameter]) throws(PostgresError) -> String {
    if let name = prepared[statement] { return name }
    let name = statement.preparedName
    let types = parameters.map(\.type)
    _ = try check(PQprepare(handle, name, statement.text, Int32(types.count), types), statement.name)
    prepared[statement] = name
    return name
  }

  private func run(_ script: String, name: String, failpoint: Failpoint?) throws(PostgresError) -> ResultHandle {
    try drainPipeline()
    guard Failpoints.areArmed, let failpoint else { return try check(PQexec(handle, script), name) }
    return try interruptible(failpoint) { () throws(PostgresError) in try check(PQexec(handle, script), name) }
  }

  func interruptible<Result>(
    _ failpoint: Failpoint, _ act: () throws(PostgresError) -> Result
  ) throws(PostgresError) -> Result {
    passBefore(failpoint)
    let result = try act()
    try passAfter(failpoint)
    return result
  }

  private func passBefore(_ failpoint: Failpoint?) {
    guard Failpoints.areArmed, let failpoint else { return }
    if Failpoints.pass("\(failpoint.name).before") { cut() }
  }

  private func passAfter(_ failpoint: Failpoint?) throws(PostgresError) {
    guard Failpoints.areArmed, let failpoint, Failpoints.pass("\(failpoint.name).after") else { return }
    cut()
    throw PostgresError(.connectionLost, "the connection was cut before the answer", statement: failpoint.name)
  }

  private func cut() { _ = shutdown(PQsocket(handle), Int32(SHUT_RDWR)) }

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

// At file scope, as every function that C calls: notices ("relation exists, skipping") are no business of standard error.
private func ignoreNotice(_ context: UnsafeMutableRawPointer?, _ message: UnsafePointer<CChar>?) {}
