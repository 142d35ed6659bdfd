internal import Platform

/// A limited number of connections that tasks share; waiting tasks are served in FIFO order.
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

  /// Creates a pool; the first use of a connection connects.
  ///
  /// - Parameters:
  ///   - size: the maximum number of connections; each has a thread.
  ///   - timeout: the time that a caller waits for a free connection (`isExhausted`), and then for the server
  ///     (`isUnavailable`).
  package init(_ url: DatabaseURL, size: Int, timeout: Duration = .seconds(5)) {
    precondition(size > 0)
    self.url = url
    self.size = size
    self.timeout = timeout
  }

  /// Runs `body` on a connection's thread; see `Connection.run`.
  ///
  /// - Parameters:
  ///   - timeout: nil: the pool's.
  ///   - checkout: the time to wait for a free connection; nil: `timeout`.
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

  /// Runs `body` in a transaction: commits when it returns, rolls back when it throws.
  ///
  /// - Parameters:
  ///   - timeout: nil: the pool's.
  ///   - checkout: the time to wait for a free connection; nil: `timeout`.
  @discardableResult
  package nonisolated func transaction<Result: Sendable>(
    timeout: Duration? = nil, checkout: Duration? = nil, _ body: @Sendable (Session) throws -> Result
  ) async throws -> Result {
    try await run(timeout: timeout, checkout: checkout) { session in try session.transaction(body) }
  }

  /// Runs a `body` that only reads; if the task is cancelled, the statement that runs is cancelled.
  package nonisolated func read<Result: Sendable>(
    timeout: Duration? = nil, _ body: @Sendable (Session) throws -> Result
  ) async throws -> Result {
    let timeout = timeout ?? self.timeout
    let connection = try await acquire(timeout: timeout)
    let read = CancellableRead()
    do {
      let result = try await withTaskCancellationHandler {
        try await connection.read(timeout: timeout, read, body)
      } onCancel: {
        read.cancel()
      }
      await read.waitForRequest()
      await release(connection)
      return result
    } catch {
      await read.waitForRequest()
      await release(connection)
      throw error
    }
  }

  /// Whether a server replies, even if it refuses connections because it starts or shuts down.
  package nonisolated func isReachable() async -> Bool {
    (try? await onThread("postgres-ping") { [url] in url.isReachable() }) ?? false
  }

  /// Closes idle connections and fails waiting callers; a connection in use closes when it is released.
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
        throw PostgresError(.unavailable, "cannot start the thread of a connection: \(error)")
      }
    }
    let id = nextWaiter
    nextWaiter += 1
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let timer = Task {
          try? await Task.sleep(for: timeout)
          fail(
            id,
            PostgresError(
              .exhausted, "all \(size) connections were busy for \(timeout)",
              remedy: "Raise the pool's size or lower the load"))
        }
        waiters.append(Waiter(id: id, continuation: continuation, timer: timer))
        if Task.isCancelled { fail(id, CancellationError()) }
      }
    } onCancel: {
      Task { await fail(id, CancellationError()) }
    }
  }

  private func fail(_ id: Int, _ error: any Error) {
    guard let index = waiters.firstIndex(where: { $0.id == id }) else { return }
    finish(waiters.remove(at: index), with: .failure(error))
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
