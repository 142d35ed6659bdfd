internal import CPostgres
import Glibc
package import Platform

extension Session {
  /// Runs `body` in a transaction: commits when it returns, rolls back when it throws.
  ///
  /// If the reply to COMMIT is lost, the error is `isConnectionLost`: the commit may have succeeded.
  @discardableResult
  package func transaction<Result>(_ body: (Session) throws -> Result) throws -> Result {
    try transaction("BEGIN", body)
  }

  /// Runs `body` in a read-only transaction with one snapshot.
  package func snapshot<Result>(_ body: (Session) throws -> Result) throws -> Result {
    try transaction("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY", body)
  }

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

  private func transaction<Result>(_ begin: String, _ body: (Session) throws -> Result) throws -> Result {
    guard !isInTransaction else { throw PostgresError(.usage, "a transaction is already open") }
    try executeScript(begin + limitsOfTransaction, name: "BEGIN", failpoint: .begin)
    followers = []
    let value: Result
    do {
      value = try body(self)
    } catch {
      followers = []
      // If ROLLBACK fails, the connection is lost, and the server rolls back.
      try? executeScript("ROLLBACK", name: "ROLLBACK", failpoint: .rollback)
      throw error
    }
    // The COMMIT of a failed transaction is a ROLLBACK.
    let following = PQtransactionStatus(handle) == PQTRANS_INERROR ? [] : followers
    followers = []
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
