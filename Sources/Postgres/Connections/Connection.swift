package import Platform

/// A connection with a thread of its own, on which all blocking calls run.
///
/// A body runs on that thread without suspension, so that bodies of different tasks do not interleave.
package actor Connection {
  private let executor: ThreadExecutor
  private let url: DatabaseURL
  private var session: Session?

  package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// Starts the thread; the first use connects.
  ///
  /// - Parameter name: the thread's name, at most 15 bytes.
  package init(_ url: DatabaseURL, name: String) throws(SystemError) {
    self.url = url
    executor = try ThreadExecutor(name: name)
  }

  deinit { executor.stop() }

  /// Runs `body` on the connection's thread.
  ///
  /// A connection that was lost since its last use is replaced before `body` starts. Nothing is repeated once `body`
  /// has started: after an error with `isConnectionLost` the outcome is unknown. The connection is closed if the server
  /// turns out to be read-only: the next one may reach the new primary.
  ///
  /// - Parameters:
  ///   - timeout: the time for which connecting is tried.
  ///   - purpose: whose limits the statements have.
  @discardableResult
  package func run<Result: Sendable>(
    timeout: Duration = .seconds(5), for purpose: Session.Purpose = .service,
    _ body: @Sendable (Session) throws -> Result
  ) throws -> Result {
    let session = try open(timeout: timeout)
    defer {
      // A transaction that a body left open must not be continued by the next body.
      if session.isInTransaction || session.isReadOnly { self.session = nil }
    }
    try session.setPurpose(purpose)
    return try body(session)
  }

  /// Runs `body` on the connection's thread; cancelling `use` cancels the statement that runs.
  func run<Result: Sendable>(
    timeout: Duration, for purpose: Session.Purpose, _ use: CancellableUse, _ body: @Sendable (Session) throws -> Result
  ) throws -> Result {
    try run(timeout: timeout, for: purpose) { session in
      guard use.begin(session.cancellation) else { throw CancellationError() }
      defer { use.end() }
      return try body(session)
    }
  }

  /// Runs `body` in a transaction on the connection's thread: commits when it returns, rolls back when it throws.
  @discardableResult
  package func transaction<Result: Sendable>(
    timeout: Duration = .seconds(5), _ body: @Sendable (Session) throws -> Result
  ) throws -> Result {
    try run(timeout: timeout) { session in try session.transaction(body) }
  }

  private func open(timeout: Duration) throws(PostgresError) -> Session {
    if let session, session.isAlive { return session }
    session = nil
    let new = try Session.connect(url, timeout: timeout)
    session = new
    return new
  }
}
