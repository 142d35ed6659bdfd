internal import Platform

/// A limited number of connections that tasks share; waiting tasks are served in FIFO order.
///
/// A lock guards it, and no actor: taking a free connection suspends no task and wakes no thread.
package final class Pool: Sendable {
  private let url: DatabaseURL
  private let size: Int
  private let timeout: Duration
  private let shared = Locked(State())

  private struct State {
    var idle: [Connection] = []
    var opened = 0
    /// The connections that patient callers use.
    var patient = 0
    var waiters: [Waiter] = []
    var nextWaiter = 0
    var isClosed = false
  }

  private struct Waiter {
    let id: Int
    let isPatient: Bool
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
  ///   - checkout: the time to wait for a free connection; nil: `timeout`. Callers with a time of their own are patient: they
  ///     use at most half of the connections at a time, so that others need not wait for all of them.
  @discardableResult
  package func run<Result: Sendable>(
    timeout: Duration? = nil, checkout: Duration? = nil, _ body: @Sendable (Session) throws -> Result
  ) async throws -> Result {
    let timeout = timeout ?? self.timeout
    let connection = try await acquire(timeout: checkout ?? timeout, isPatient: checkout != nil)
    defer { release(connection, isPatient: checkout != nil) }
    return try await connection.run(timeout: timeout, body)
  }

  /// Runs `body` in a transaction: commits when it returns, rolls back when it throws.
  ///
  /// - Parameters:
  ///   - timeout: nil: the pool's.
  ///   - checkout: the time to wait for a free connection, as in `run`; nil: `timeout`.
  @discardableResult
  package func transaction<Result: Sendable>(
    timeout: Duration? = nil, checkout: Duration? = nil, _ body: @Sendable (Session) throws -> Result
  ) async throws -> Result {
    try await run(timeout: timeout, checkout: checkout) { session in try session.transaction(body) }
  }

  /// Runs a `body` that only reads; if the task is cancelled, the statement that runs is cancelled.
  package func read<Result: Sendable>(
    timeout: Duration? = nil, _ body: @Sendable (Session) throws -> Result
  ) async throws -> Result {
    let timeout = timeout ?? self.timeout
    let connection = try await acquire(timeout: timeout, isPatient: false)
    defer { release(connection, isPatient: false) }
    let read = CancellableRead()
    do {
      let result = try await withTaskCancellationHandler {
        try await connection.read(timeout: timeout, read, body)
      } onCancel: {
        read.cancel()
      }
      await read.waitForRequest()
      return result
    } catch {
      await read.waitForRequest()
      throw error
    }
  }

  /// Whether a server replies, even if it refuses connections because it starts or shuts down.
  package func isReachable() async -> Bool {
    (try? await onThread("postgres-ping") { [url] in url.isReachable() }) ?? false
  }

  /// Closes idle connections and fails waiting callers; a connection in use closes when it is released.
  package func close() async {
    let waiters = shared.withLock { state in
      state.isClosed = true
      state.idle = []
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters { Self.finish(waiter, with: .failure(Self.closed)) }
  }

  private static let closed = PostgresError(.unavailable, "the connection pool is closed")

  private func acquire(timeout: Duration, isPatient: Bool) async throws -> Connection {
    if let connection = try shared.withLock({ state in try take(&state, isPatient) }) { return connection }
    let id = shared.withLock { state in
      defer { state.nextWaiter += 1 }
      return state.nextWaiter
    }
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
        let waiter = Waiter(id: id, isPatient: isPatient, continuation: continuation, timer: timer)
        let outcome = Result {
          try shared.withLock { state -> Connection? in
            // One may have been released since.
            if let connection = try take(&state, isPatient) { return connection }
            state.waiters.append(waiter)
            return nil
          }
        }
        switch outcome {
        case .success(nil): if Task.isCancelled { fail(id, CancellationError()) }
        case .success(let connection?): Self.finish(waiter, with: .success(connection))
        case .failure(let error): Self.finish(waiter, with: .failure(error))
        }
      }
    } onCancel: {
      fail(id, CancellationError())
    }
  }

  /// Takes an idle or a new connection; nil if the caller must wait.
  private func take(_ state: inout State, _ isPatient: Bool) throws(PostgresError) -> Connection? {
    guard !state.isClosed else { throw Self.closed }
    guard mayUse(state, isPatient) else { return nil }
    var connection = state.idle.popLast()
    if connection == nil, state.opened < size {
      do throws(SystemError) {
        connection = try Connection(url, name: "postgres-\(state.opened + 1)")
        state.opened += 1
      } catch {
        throw PostgresError(.unavailable, "cannot start the thread of a connection: \(error)")
      }
    }
    if connection != nil, isPatient { state.patient += 1 }
    return connection
  }

  private func mayUse(_ state: State, _ isPatient: Bool) -> Bool { !isPatient || state.patient < max(1, size / 2) }

  private func release(_ connection: Connection, isPatient: Bool) {
    let waiter = shared.withLock { state -> Waiter? in
      if isPatient { state.patient -= 1 }
      if state.isClosed { return nil }
      guard let index = state.waiters.firstIndex(where: { mayUse(state, $0.isPatient) }) else {
        state.idle.append(connection)
        return nil
      }
      let waiter = state.waiters.remove(at: index)
      if waiter.isPatient { state.patient += 1 }
      return waiter
    }
    if let waiter { Self.finish(waiter, with: .success(connection)) }
  }

  private func fail(_ id: Int, _ error: any Error) {
    let waiter = shared.withLock { state in
      state.waiters.firstIndex { $0.id == id }.map { state.waiters.remove(at: $0) }
    }
    if let waiter { Self.finish(waiter, with: .failure(error)) }
  }

  private static func finish(_ waiter: Waiter, with result: Result<Connection, any Error>) {
    waiter.timer.cancel()
    waiter.continuation.resume(with: result)
  }
}
