package import Platform

/// A connection with a thread of its own, on which everything that blocks happens.
///
/// A body runs on that thread from begin to end without suspension: nothing of another task can come in between.
package actor Connection {
  private let executor: ThreadExecutor
  private let url: DatabaseURL
  private var session: Session?

  package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// Starts the thread; connects when first used.
  ///
  /// - Parameter name: the thread's name, at most 15 bytes.
  package init(_ url: DatabaseURL, name: String) throws(SystemError) {
    self.url = url
    executor = try ThreadExecutor(name: name)
  }

  deinit { executor.stop() }

  /// Runs `body` on the connection's thread.
  ///
  /// A connection that died since its last use is replaced before anything is sent. Once `body` has begun nothing is
  /// repeated: an error with `isConnectionLost` says that the outcome is unknown. A server that turned out to be read-only
  /// is left: the next connection may find the one that took its place.
  ///
  /// - Parameter timeout: how long to go on trying to connect.
  @discardableResult
  package func run<Result: Sendable>(
    timeout: Duration = .seconds(5), _ body: @Sendable (Session) throws -> Result
  ) throws -> Result {
    let session = try open(timeout: timeout)
    defer {
      // A body that left its transaction open must not hand it to the next one.
      if session.isInTransaction || session.isReadOnly || !session.isAlive { self.session = nil }
    }
    return try body(session)
  }

  /// Runs a `body` that only reads; where the reading is given up meanwhile, the statement that runs is cancelled.
  func read<Result: Sendable>(
    timeout: Duration, _ reading: AbandonedReading, _ body: @Sendable (Session) throws -> Result
  ) throws -> Result {
    try run(timeout: timeout) { session in
      guard reading.begin(session.cancellation) else { throw CancellationError() }
      defer { reading.end() }
      return try body(session)
    }
  }

  /// Runs `body` inside a transaction on the connection's thread: commits when it returns, rolls back when it throws.
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
