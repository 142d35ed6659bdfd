internal import Platform

/// A limited number of connections shared by many tasks, first come first served.
package actor Pool {
  private let url: DatabaseURL
  private let size: Int
  private let timeout: Duration
  private var idle: [Connection] = []
  private var opened = 0
  private var waiters: [Waiter] = []
  private var nextWaiter = 0
  private var isClosed = false

  private struct Waiter {
    let id: Int
    let continuation: CheckedContinuation<Connection, any Error>
    let timer: Task<Void, Never>
  }

  /// Connects when first used.
  ///
  /// - Parameters:
  ///   - size: the most connections at a time; each has a thread.
  ///   - timeout: how long a caller waits for a free connection, before `isExhausted`, and then for the server, before
  ///     `isUnavailable`.
  package init(_ url: DatabaseURL, size: Int, timeout: Duration = .seconds(5)) {
    precondition(size > 0)
    self.url = url
    self.size = size
    self.timeout = timeout
  }

  /// Runs `body` on a connection's thread; see `Connection.run`.
  ///
  /// - Parameter checkout: how long to wait for a free connection, where that is not as long as for the server.
  @discardableResult
  package nonisolated func run<Result: Sendable>(
    timeout: Duration? = nil, checkout: Duration? = nil, _ body: @Sendable (Session) throws -> Result
  ) async throws -> Result {
    let timeout = timeout ?? self.timeout
    let connection = try await acquire(timeout: checkout ?? timeout)
    do {
      let result = try await connection.run(timeout: timeout, body)
      await release(connection)
      return result
    } catch {
      await release(connection)
      throw error
    }
  }

  /// Runs `body` inside a transaction: commits when it returns, rolls back when it throws.
  ///
  /// - Parameter checkout: how long to wait for a free connection, where that is not as long as for the server.
  @discardableResult
  package nonisolated func transaction<Result: Sendable>(
    timeout: Duration? = nil, checkout: Duration? = nil, _ body: @Sendable (Session) throws -> Result
  ) async throws -> Result {
    try await run(timeout: timeout, checkout: checkout) { session in try session.transaction(body) }
  }

  /// Runs a `body` that only reads, and has the server give it up where the task is cancelled meanwhile.
  package nonisolated func read<Result: Sendable>(
    timeout: Duration? = nil, _ body: @Sendable (Session) throws -> Result
  ) async throws -> Result {
    let timeout = timeout ?? self.timeout
    let connection = try await acquire(timeout: timeout)
    let reading = AbandonedReading()
    do {
      let result = try await withTaskCancellationHandler {
        try await connection.read(timeout: timeout, reading, body)
      } onCancel: {
        reading.abandon()
      }
      await reading.settle()
      await release(connection)
      return result
    } catch {
      await reading.settle()
      await release(connection)
      throw error
    }
  }

  /// Whether a server is there, be it one that takes no connections because it recovers or ends.
  package nonisolated func isAnswered() async -> Bool {
    (try? await onThread("postgres-ping") { [url] in url.isAnswered() }) ?? false
  }

  /// Closes idle connections, turns waiters away, and lets each busy connection close when its work is done.
  package func close() {
    isClosed = true
    idle = []
    for waiter in waiters { finish(waiter, with: .failure(Self.closed)) }
    waiters = []
  }

  private static let closed = PostgresError(.unavailable, "the connection pool is closed")

  private func acquire(timeout: Duration) async throws -> Connection {
    guard !isClosed else { throw Self.closed }
    if let connection = idle.popLast() { return connection }
    if opened < size {
      do {
        let connection = try Connection(url, name: "postgres-\(opened + 1)")
        opened += 1
        return connection
      } catch {
        throw PostgresError(.unavailable, "no thread for a connection: \(error)")
      }
    }
    let id = nextWaiter
    nextWaiter += 1
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let timer = Task {
          try? await Task.sleep(for: timeout)
          giveUp(
            id,
            PostgresError(
              .exhausted, "all \(size) connections were busy for \(timeout)",
              remedy: "Raise the pool's size or lower the load"))
        }
        waiters.append(Waiter(id: id, continuation: continuation, timer: timer))
        if Task.isCancelled { giveUp(id, CancellationError()) }
      }
    } onCancel: {
      Task { await giveUp(id, CancellationError()) }
    }
  }

  private func giveUp(_ id: Int, _ error: any Error) {
    guard let place = waiters.firstIndex(where: { $0.id == id }) else { return }
    finish(waiters.remove(at: place), with: .failure(error))
  }

  private func finish(_ waiter: Waiter, with result: Result<Connection, any Error>) {
    waiter.timer.cancel()
    waiter.continuation.resume(with: result)
  }

  private func release(_ connection: Connection) {
    if isClosed { return }
    if waiters.isEmpty {
      idle.append(connection)
    } else {
      finish(waiters.removeFirst(), with: .success(connection))
    }
  }
}
