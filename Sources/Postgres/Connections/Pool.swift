internal import Platform

/// A limited number of connections that tasks share. The clients that wait take turns, however many connections each of them asks
/// for; the tasks of one client are served in FIFO order.
///
/// A lock guards it, and no actor: taking a free connection suspends no task and wakes no thread.
package final class Pool: Sendable {
  package let url: DatabaseURL
  /// The maximum number of connections.
  package let size: Int
  private let reserved: Int
  private let boundsWaiting: Bool
  private let timeout: Duration
  private let onConflict: @Sendable (PostgresError) -> Void
  private let shared = Locked(State())

  /// What a caller uses a connection for, which bounds how many of them are used so at a time.
  private enum Use {
    case ordinary, request, reading, patient
  }

  /// What a caller needs a connection for, and for which client.
  private struct Claim {
    let use: Use
    let client: PoolClient?

    init(isReading: Bool = false, isPatient: Bool = false) {
      client = PoolClient.current
      use = isReading ? .reading : isPatient ? .patient : client == nil ? .ordinary : .request
    }
  }

  private struct State {
    /// With what each was used for last.
    var idle: [(connection: Connection, use: Use)] = []
    var opened = 0
    /// The connections in use.
    var used: [Use: Int] = [:]
    var usedBy: [PoolClient: Int] = [:]
    /// In the order of their turns.
    var waiters: [Waiter] = []
    /// When a task looks next for waits that last too long; nil: none does.
    var nextLook: ContinuousClock.Instant?
    /// The round of the last turn: in each, every client that waits has one.
    var round = 0
    var nextWaiter = 0
    var isClosed = false
  }

  private struct Waiter {
    let id: Int
    let claim: Claim
    var round = 0
    let continuation: CheckedContinuation<Connection, any Error>
    /// The longest time that it waits, and the end of that.
    let timeout: Duration
    let deadline: ContinuousClock.Instant
  }

  /// Creates a pool; the first use of a connection connects.
  ///
  /// - Parameters:
  ///   - size: the maximum number of connections; each has a thread.
  ///   - reserved: the number of connections that `read` leaves to others, so that readers who wait for a lock do not take all.
  ///   - boundsWaiting: whether of the tasks that wait a client has a share as well (`isShareUsed`).
  ///   - timeout: the time that a caller waits for a free connection (`isExhausted`), and then for the server
  ///     (`isUnavailable`).
  ///   - onConflict: receives the error of each transaction that concurrent ones have ended.
  package init(
    _ url: DatabaseURL, size: Int, reserved: Int = 0, boundsWaiting: Bool = false, timeout: Duration = .seconds(5),
    onConflict: @escaping @Sendable (PostgresError) -> Void = { _ in }
  ) {
    precondition(size > 0)
    self.url = url
    self.size = size
    self.reserved = reserved
    self.boundsWaiting = boundsWaiting
    self.timeout = timeout
    self.onConflict = onConflict
  }

  /// Runs `body` on a connection's thread; see `Connection.run`.
  ///
  /// What a client has asked for waits for a lock no longer than `requestLockLimit` of the URL (`isLockTimeout`).
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
    let claim = Claim(isPatient: checkout != nil)
    let connection = try await acquire(timeout: checkout ?? timeout, claim)
    defer { release(connection, claim) }
    return try await connection.run(timeout: timeout, for: claim.client == nil ? .service : .request, body)
  }

  /// How often a transaction runs at most, and the pause before its first repetition, which doubles with each further one.
  private static let maxAttempts = 6
  private static let firstPause = Duration.milliseconds(10)

  /// Runs `body` in a transaction: commits when it returns, rolls back when it throws.
  ///
  /// If the server has rolled the transaction back because of concurrent ones (`isConflict`), it runs again, up to six times: what
  /// `body` does besides its statements must be repeatable.
  ///
  /// - Parameters:
  ///   - timeout: nil: the pool's.
  ///   - checkout: the time to wait for a free connection, as in `run`; nil: `timeout`.
  ///   - prepare: runs before each transaction, without a connection; if it throws a conflict, it runs again, too.
  @discardableResult
  package func transaction<Result: Sendable>(
    timeout: Duration? = nil, checkout: Duration? = nil, preparedBy prepare: @Sendable () async throws -> Void = {},
    _ body: @Sendable (Session) throws -> Result
  ) async throws -> Result {
    var (attempt, pause) = (1, Self.firstPause)
    while true {
      do {
        try await prepare()
        return try await run(timeout: timeout, checkout: checkout) { session in try session.transaction(body) }
      } catch let error as PostgresError where error.isConflict {
        onConflict(error)
        guard attempt < Self.maxAttempts else { throw error }
      }
      // Random, so that transactions that met do not meet again. A task that is cancelled does not wait.
      try? await Task.sleep(for: pause * Double.random(in: 0.5...1.5))
      (attempt, pause) = (attempt + 1, pause * 2)
    }
  }

  /// Runs a `body` that only reads; if the task is cancelled, the statement that runs is cancelled. A statement
  /// runs no longer than `readLimit` of the URL (`isCanceled`), and waits for a lock no longer than `readLockLimit` (`isLockTimeout`).
  package func read<Result: Sendable>(
    timeout: Duration? = nil, _ body: @Sendable (Session) throws -> Result
  ) async throws -> Result {
    let timeout = timeout ?? self.timeout
    let claim = Claim(isReading: true)
    let connection = try await acquire(timeout: timeout, claim)
    defer { release(connection, claim) }
    return try await cancellable { use in try await connection.run(timeout: timeout, for: .reading, use, body) }
  }

  /// Runs `body` as `run` does; if the task is cancelled, the statement that runs is cancelled, and each one that follows.
  package func runCancellable<Result: Sendable>(
    timeout: Duration? = nil, _ body: @Sendable (Session) throws -> Result
  ) async throws -> Result {
    let timeout = timeout ?? self.timeout
    let claim = Claim()
    let connection = try await acquire(timeout: timeout, claim)
    defer { release(connection, claim) }
    let purpose: Session.Purpose = claim.client == nil ? .service : .request
    return try await cancellable { use in try await connection.run(timeout: timeout, for: purpose, use, body) }
  }

  private func cancellable<Result: Sendable>(
    _ run: (CancellableUse) async throws -> Result
  ) async throws -> Result {
    let use = CancellableUse()
    do {
      let result = try await withTaskCancellationHandler {
        try await run(use)
      } onCancel: {
        use.cancel()
      }
      await use.waitForRequest()
      return result
    } catch {
      await use.waitForRequest()
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

  private func acquire(timeout: Duration, _ claim: Claim) async throws -> Connection {
    if let connection = try shared.withLock({ state in try take(&state, claim) }) { return connection }
    let id = shared.withLock { state in
      defer { state.nextWaiter += 1 }
      return state.nextWaiter
    }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let waiter = Waiter(
          id: id, claim: claim, continuation: continuation, timeout: timeout, deadline: .now + timeout)
        let outcome = Result {
          try shared.withLock { state -> Connection? in
            // One may have been released since.
            if let connection = try take(&state, claim) { return connection }
            try enqueue(waiter, &state)
            return nil
          }
        }
        switch outcome {
        case .success(nil):
          if Task.isCancelled { fail(id) { _ in CancellationError() } } else { limitWaits(at: waiter.deadline) }
        case .success(let connection?): Self.finish(waiter, with: .success(connection))
        case .failure(let error): Self.finish(waiter, with: .failure(error))
        }
      }
    } onCancel: {
      fail(id) { _ in CancellationError() }
    }
  }

  /// Ends waits that last too long at a time, unless a task does before it. One task is for all of them: nearly all end before, and a timer
  /// for each would cost more than the wait.
  private func limitWaits(at deadline: ContinuousClock.Instant) {
    let isNext = shared.withLock { state in
      if let next = state.nextLook, next <= deadline { return false }
      state.nextLook = deadline
      return true
    }
    guard isNext else { return }
    Task { [weak self] in
      var next: ContinuousClock.Instant? = deadline
      while let time = next {
        try? await Task.sleep(until: time, clock: .continuous)
        next = self?.endLongWaits(at: time)
      }
    }
  }

  /// Ends the waits whose deadlines have passed.
  ///
  /// - Returns: the time of the next look; nil if none is needed, or another task looks.
  private func endLongWaits(at time: ContinuousClock.Instant) -> ContinuousClock.Instant? {
    let now = ContinuousClock.now
    for waiter in shared.withLock({ $0.waiters }) where waiter.deadline <= now {
      fail(waiter.id) { hasShare in
        hasShare
          ? PostgresError(.shareUsed, "the client used its share of the connections for \(waiter.timeout)")
          : PostgresError(
            .exhausted, "all \(size) connections were busy for \(waiter.timeout)",
            remedy: "Raise the pool's size or lower the load")
      }
    }
    return shared.withLock { state in
      // An earlier wait has brought a task of its own.
      guard state.nextLook == time else { return nil }
      state.nextLook = state.waiters.map(\.deadline).min()
      return state.nextLook
    }
  }

  /// Takes an idle or a new connection; nil if the caller must wait.
  private func take(_ state: inout State, _ claim: Claim) throws(PostgresError) -> Connection? {
    guard !state.isClosed else { throw Self.closed }
    guard mayUse(state, claim) else { return nil }
    // One that was last used in the same way has the settings for it.
    let index = state.idle.lastIndex { $0.use == claim.use } ?? state.idle.indices.last
    var connection = index.map { state.idle.remove(at: $0).connection }
    if connection == nil, state.opened < size {
      do throws(SystemError) {
        connection = try Connection(url, name: "postgres-\(state.opened + 1)")
        state.opened += 1
      } catch {
        throw PostgresError(.unavailable, "cannot start the thread of a connection: \(error)")
      }
    }
    if connection != nil { count(claim, 1, &state) }
    return connection
  }

  private func mayUse(_ state: State, _ claim: Claim) -> Bool {
    let most =
      switch claim.use {
      case .ordinary, .request: size
      case .reading: max(1, size - reserved)
      case .patient: max(1, size / 2)
      }
    return state.used[claim.use, default: 0] < most && !hasShare(state, claim)
  }

  private func hasShare(_ state: State, _ claim: Claim) -> Bool {
    guard let client = claim.client else { return false }
    let own = state.usedBy[client, default: 0]
    return own >= client.share(of: size, besides: state.used.values.reduce(0, +) - own)
  }

  private func count(_ claim: Claim, _ number: Int, _ state: inout State) {
    state.used[claim.use, default: 0] += number
    guard let client = claim.client else { return }
    let used = state.usedBy[client, default: 0] + number
    state.usedBy[client] = used == 0 ? nil : used
  }

  /// Gives a caller a turn in the round after the last one in which its client has a turn.
  private func enqueue(_ waiter: consuming Waiter, _ state: inout State) throws(PostgresError) {
    let client = waiter.claim.client
    let others = client.map { client in state.waiters.filter { $0.claim.client == client } } ?? []
    if boundsWaiting, let client, others.count >= client.maxWaiting {
      throw PostgresError(.shareUsed, "\(others.count) tasks of the client wait for a connection")
    }
    let round = others.last.map { $0.round + 1 } ?? state.round
    waiter.round = round
    state.waiters.insert(waiter, at: state.waiters.firstIndex { $0.round > round } ?? state.waiters.endIndex)
  }

  private func release(_ connection: Connection, _ claim: Claim) {
    let waiter = shared.withLock { state -> Waiter? in
      count(claim, -1, &state)
      if state.isClosed { return nil }
      guard let index = state.waiters.firstIndex(where: { mayUse(state, $0.claim) }) else {
        state.idle.append((connection, claim.use))
        return nil
      }
      let waiter = state.waiters.remove(at: index)
      state.round = max(state.round, waiter.round)
      count(waiter.claim, 1, &state)
      return waiter
    }
    if let waiter { Self.finish(waiter, with: .success(connection)) }
  }

  /// Ends the wait of a caller, if it still waits.
  ///
  /// - Parameter error: returns the error, for whether the client uses its share.
  private func fail(_ id: Int, _ error: (Bool) -> any Error) {
    let failed = shared.withLock { state -> (Waiter, Bool)? in
      guard let index = state.waiters.firstIndex(where: { $0.id == id }) else { return nil }
      let waiter = state.waiters.remove(at: index)
      return (waiter, hasShare(state, waiter.claim))
    }
    if let (waiter, hasShare) = failed { Self.finish(waiter, with: .failure(error(hasShare))) }
  }

  private static func finish(_ waiter: Waiter, with result: Result<Connection, any Error>) {
    waiter.continuation.resume(with: result)
  }
}
