internal import HTTPServer
internal import Platform

/// The turns of lists on the connections that are for them. Of these a client has a share at a time; what is beyond it waits, and
/// the clients that wait take turns, however many lists each of them asks for.
final class ListTurns: Sendable {
  /// The maximum number of lists of one user or address that wait.
  private static let maxWaiting = 32
  /// The same of one API key, which serves many users.
  private static let maxWaitingOfKey = 1024

  private struct Waiter {
    let id: Int
    let continuation: CheckedContinuation<Void, any Error>
  }

  private struct State {
    var running: [ShareHolder: Int] = [:]
    var waiting: [ShareHolder: [Waiter]] = [:]
    /// The clients that wait; the first has the next turn.
    var order: [ShareHolder] = []
    var nextID = 0
  }

  private let connections: Int
  private let timeout: Duration
  private let state = Locked(State())

  /// - Parameters:
  ///   - connections: the number of lists that run at a time.
  ///   - timeout: the time for which a list waits for its turn.
  init(connections: Int, timeout: Duration) {
    self.connections = connections
    self.timeout = timeout
  }

  /// Runs a list in its turn; throws a problem with status 429 if the client has more lists than its share, and 503 if the
  /// lists of others take too long.
  func run<Value: Sendable>(for holder: ShareHolder, _ body: () async throws -> Value) async throws -> Value {
    try await take(holder)
    defer { release(holder) }
    return try await body()
  }

  /// The number of lists of one client that run at a time: half of all, or all but one for an API key.
  private func share(of holder: ShareHolder) -> Int {
    switch holder {
    case .user, .address: max(1, connections / 2)
    case .key: max(1, connections - 1)
    }
  }

  private func take(_ holder: ShareHolder) async throws {
    if state.withLock({ state in begin(holder, &state) }) { return }
    let id = state.withLock { state in
      defer { state.nextID += 1 }
      return state.nextID
    }
    return try await withTaskCancellationHandler {
      var timer: Task<Void, any Error>?
      defer { timer?.cancel() }
      try await withCheckedThrowingContinuation { continuation in
        let outcome: Result<Void, any Error>? = state.withLock { state in
          if Task.isCancelled { return .failure(CancellationError()) }
          // One may have ended since.
          if begin(holder, &state) { return .success(()) }
          let waiting = state.waiting[holder, default: []].count
          let isKey = if case .key = holder { true } else { false }
          guard waiting < (isKey ? Self.maxWaitingOfKey : Self.maxWaiting) else {
            return .failure(Self.tooMany)
          }
          if waiting == 0 { state.order.append(holder) }
          state.waiting[holder, default: []].append(Waiter(id: id, continuation: continuation))
          return nil
        }
        if let outcome { return continuation.resume(with: outcome) }
        // Only now: what it is to end waits.
        timer = Task {
          try await Task.sleep(for: timeout)
          fail(id, of: holder) { self.refusal(of: holder, $0) }
        }
      }
    } onCancel: {
      fail(id, of: holder) { _ in CancellationError() }
    }
  }

  private func mayRun(_ holder: ShareHolder, _ state: State) -> Bool {
    state.running.values.reduce(0, +) < connections && state.running[holder, default: 0] < share(of: holder)
  }

  private func begin(_ holder: ShareHolder, _ state: inout State) -> Bool {
    guard mayRun(holder, state) else { return false }
    state.running[holder, default: 0] += 1
    return true
  }

  private func release(_ holder: ShareHolder) {
    let waiter = state.withLock { state -> Waiter? in
      state.running[holder, default: 0] -= 1
      if state.running[holder] == 0 { state.running[holder] = nil }
      guard let index = state.order.firstIndex(where: { mayRun($0, state) }) else { return nil }
      let next = state.order.remove(at: index)
      let waiter = state.waiting[next]?.removeFirst()
      if state.waiting[next]?.isEmpty == false { state.order.append(next) } else { state.waiting[next] = nil }
      state.running[next, default: 0] += 1
      return waiter
    }
    waiter?.continuation.resume()
  }

  /// Ends the waiting of a list, if it still waits.
  ///
  /// - Parameter error: returns the error for the number of lists of the client that run.
  private func fail(_ id: Int, of holder: ShareHolder, _ error: (Int) -> any Error) {
    let failed = state.withLock { state -> (Waiter, Int)? in
      guard let index = state.waiting[holder]?.firstIndex(where: { $0.id == id }),
        let waiter = state.waiting[holder]?.remove(at: index)
      else { return nil }
      if state.waiting[holder]?.isEmpty == true {
        state.waiting[holder] = nil
        state.order.removeAll { $0 == holder }
      }
      return (waiter, state.running[holder, default: 0])
    }
    if let (waiter, running) = failed { waiter.continuation.resume(throwing: error(running)) }
  }

  private func refusal(of holder: ShareHolder, _ running: Int) -> Problem {
    if running >= share(of: holder) { return Self.tooMany }
    return ProblemKind.overloaded.problem(
      "The lists of other clients take all connections that are for lists.", headers: Self.soon)
  }

  private static let soon: HeaderFields = ["Retry-After": "5"]

  private static var tooMany: Problem {
    ProblemKind.tooManyRequests.problem(
      "The client asks for more lists at the same time than its share.", headers: soon)
  }
}
