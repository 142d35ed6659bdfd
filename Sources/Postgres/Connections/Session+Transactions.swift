internal import CPostgres
import Glibc
package import Platform

extension Session {
  /// Runs `body` in a transaction: commits when it returns, rolls back when it throws.
  ///
  /// BEGIN is sent with the first statement. If the reply to COMMIT is lost, the error is `isConnectionLost`: the commit may have
  /// succeeded.
  @discardableResult
  package func transaction<Result>(_ body: (Session) throws -> Result) throws -> Result {
    try transaction(Self.begin, isReadOnly: false, body)
  }

  /// Runs `body` in a read-only transaction with one snapshot.
  ///
  /// Nothing waits for the reply to COMMIT, which cannot change what was read: one statement is one round trip.
  package func snapshot<Result>(_ body: (Session) throws -> Result) throws -> Result {
    try transaction(Self.beginSnapshot, isReadOnly: true, body)
  }

  private static let begin = Statement(name: "begin", text: "BEGIN")
  private static let beginSnapshot = Statement(
    name: "begin_snapshot", text: "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY")
  private static let commitSnapshot = Statement(name: "commit_snapshot", text: "COMMIT")

  /// Runs `body` in a savepoint of the open transaction: rolls back to it when `body` throws.
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

  /// Executes a statement right after the COMMIT of the open transaction, and not at all if the transaction rolls back;
  /// outside of a transaction executes it at once.
  ///
  /// The statement is pipelined behind COMMIT, without another round trip, and is a transaction of its own: so a
  /// statement that takes a lock until its commit, such as NOTIFY, does not delay other transactions while this one
  /// works. It also runs if COMMIT fails. Its own errors are ignored.
  package func executeAfterCommit(_ statement: Statement, _ parameters: Parameter...) throws(PostgresError) {
    guard isInTransaction else {
      try execute(statement, parameters)
      return
    }
    // Prepared now: PQprepare waits for its result, so it cannot be called in the pipeline.
    followers.append(try bind(statement, parameters))
  }

  private func transaction<Result>(
    _ begin: Statement, isReadOnly: Bool, _ body: (Session) throws -> Result
  ) throws -> Result {
    guard !isInTransaction else { throw PostgresError(.usage, "a transaction is already open") }
    // A pooler needs its limits before the first statement, and a failpoint may stand between them.
    let isPipelined = limitsOfTransaction.isEmpty && !Failpoints.areArmed
    if isPipelined {
      pendingBegin = begin
    } else {
      try executeScript(begin.text + limitsOfTransaction, name: "BEGIN", failpoint: .begin)
    }
    followers = []
    let value: Result
    do {
      // Others wait for its locks, and the server for its next statement.
      value = try CriticalSection.run { try body(self) }
    } catch {
      followers = []
      // If ROLLBACK fails, the connection is lost, and the server rolls back.
      if pendingBegin.take() == nil { try? executeScript("ROLLBACK", name: "ROLLBACK", failpoint: .rollback) }
      throw error
    }
    if pendingBegin != nil && followers.isEmpty {
      pendingBegin = nil
      return value
    }
    try sendBegin()
    // The COMMIT of a failed transaction is a ROLLBACK.
    let hasFailed = PQtransactionStatus(handle) == PQTRANS_INERROR
    let following = hasFailed ? [] : followers
    followers = []
    if isReadOnly && isPipelined && !hasFailed && following.isEmpty {
      try pipeline([bind(Self.commitSnapshot, [])])
      return value
    }
    let result =
      following.isEmpty ? try run("COMMIT", name: "COMMIT", failpoint: .commit) : try commit(before: following)
    // The server's reply to the COMMIT of a failed transaction is ROLLBACK, as a success.
    guard String(cString: PQcmdStatus(result.pointer)) == "COMMIT" else {
      throw PostgresError(
        .server, "the transaction was rolled back", sqlState: "25P02", statement: "COMMIT",
        remedy: "A statement in it failed and its error was not passed on")
    }
    return value
  }

  /// Sends COMMIT with the followers behind it, and waits for the result of COMMIT alone.
  private func commit(before followers: [BoundStatement]) throws(PostgresError) -> ResultHandle {
    try drainPipeline()
    passBefore(.commit)
    unreadPipelines = 2
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
    // COMMIT has succeeded: a connection that a failpoint cuts here is noticed by the next caller.
    for follower in followers { try? passAfter(follower.statement.failpoint) }
    return result
  }

  private func send(_ bound: BoundStatement) -> Bool {
    bound.withValues { count, values, lengths, formats in
      if let name = bound.preparedName {
        return PQsendQueryPrepared(handle, name, count, values, lengths, formats, 1) == 1
      }
      return PQsendQueryParams(
        handle, bound.statement.text, count, bound.parameters.map(\.type), values, lengths, formats, 1) == 1
    }
  }

  /// Reads the remaining results of the last pipeline.
  func drainPipeline() throws(PostgresError) {
    guard unreadPipelines > 0 else { return }
    var ends = 0
    while unreadPipelines > 0 && ends < 3 {
      guard let result = PQgetResult(handle) else {
        ends += 1
        continue
      }
      ends = 0
      if PQresultStatus(result) == PGRES_PIPELINE_SYNC { unreadPipelines -= 1 }
      PQclear(result)
    }
    unreadPipelines = 0
    guard PQexitPipelineMode(handle) == 1 else {
      throw PostgresError(.connectionLost, PostgresError.lastMessage(of: handle))
    }
  }

  /// Executes statements in one round trip, which is less than one by one, and returns the rows of each.
  ///
  /// If one fails, those behind it are not executed.
  package func execute(
    together calls: [(statement: Statement, parameters: [Parameter])]
  ) throws(PostgresError) -> [Rows] {
    guard calls.count > 1, !Failpoints.areArmed else {
      var rows: [Rows] = []
      for call in calls { rows.append(try execute(call.statement, call.parameters)) }
      return rows
    }
    try drainPipeline()
    var bound: [BoundStatement] = []
    for call in calls { bound.append(try bind(call.statement, call.parameters)) }
    return try sendTogether(bound).map { Rows($0) }
  }

  /// Sends bound statements, behind the pending BEGIN if there is one, and returns the result of each.
  func sendTogether(_ statements: [BoundStatement]) throws(PostgresError) -> [ResultHandle] {
    let begin = try pendingBegin.take().map { begin throws(PostgresError) in try bind(begin, []) }
    let all = (begin.map { [$0] } ?? []) + statements
    try pipeline(all)
    var results: [Result<ResultHandle, PostgresError>] = []
    for statement in all {
      results.append(Result { () throws(PostgresError) in try check(PQgetResult(handle), statement.statement.name) })
      // Null, the end of the results of the statement.
      PQclear(PQgetResult(handle))
    }
    let drained = Result { () throws(PostgresError) in try drainPipeline() }
    var handles: [ResultHandle] = []
    for result in results { handles.append(try result.get()) }
    try drained.get()
    return Array(handles.suffix(statements.count))
  }

  /// Sends statements without waiting for their results, which are read before the next one is sent.
  private func pipeline(_ statements: [BoundStatement]) throws(PostgresError) {
    unreadPipelines = 1
    var isSent = PQenterPipelineMode(handle) == 1
    for statement in statements { isSent = isSent && send(statement) }
    guard isSent, PQpipelineSync(handle) == 1 else {
      throw PostgresError(
        .connectionLost, PostgresError.lastMessage(of: handle), statement: statements.last?.statement.name)
    }
  }

  /// Sends the pending BEGIN, if there is one, alone.
  func sendBegin() throws(PostgresError) {
    if let begin = pendingBegin.take() { try execute(begin) }
  }

  /// Calls `action` between the failpoints before and after it.
  func interruptible<Result>(
    _ failpoint: Failpoint, _ action: () throws(PostgresError) -> Result
  ) throws(PostgresError) -> Result {
    passBefore(failpoint)
    let result = try action()
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
    throw PostgresError(.connectionLost, "the connection was cut before the reply", statement: failpoint.name)
  }

  private func cut() { _ = shutdown(PQsocket(handle), Int32(SHUT_RDWR)) }
}

extension Failpoint {
  static let connect = Failpoint("connection.open")
  static let begin = Failpoint("transaction.begin", isOnConnection: true)
  static let commit = Failpoint("transaction.commit", isOnConnection: true)
  static let rollback = Failpoint("transaction.rollback", isOnConnection: true)
  static let savepoint = Failpoint("transaction.savepoint", isOnConnection: true)
  static let rollbackTo = Failpoint("transaction.rollback_to", isOnConnection: true)
  static let release = Failpoint("transaction.release", isOnConnection: true)
  static let listen = Failpoint("connection.listen", isOnConnection: true)

  /// The failpoints of every connection.
  package static let connections = [
    connect, begin, commit, rollback, savepoint, rollbackTo, release, listen,
  ]
}
