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
    var running: [Occupant: Int] = [:]
    var waiting: [Occupant: [Waiter]] = [:]
    /// The clients that wait; the first has the next turn.
    var order: [Occupant] = []
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
  func run<Value: Sendable>(for occupant: Occupant, _ body: () async throws -> Value) async throws -> Value {
    try await take(occupant)
    defer { release(occupant) }
    return try await body()
  }

  /// The number of lists of one client that run at a time: half of all, or all but one for an API key.
  private func share(of occupant: Occupant) -> Int {
    switch occupant {
    case .user, .address: max(1, connections / 2)
    case .key: max(1, connections - 1)
    }
  }

  private func take(_ occupant: Occupant) async throws {
    if state.withLock({ state in begin(occupant, &state) }) { return }
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
          if begin(occupant, &state) { return .success(()) }
          let waiting = state.waiting[occupant, default: []].count
          let isKey = if case .key = occupant { true } else { false }
          guard waiting < (isKey ? Self.maxWaitingOfKey : Self.maxWaiting) else {
            return .failure(Self.tooMany)
          }
          if waiting == 0 { state.order.append(occupant) }
          state.waiting[occupant, default: []].append(Waiter(id: id, continuation: continuation))
          return nil
        }
        if let outcome { return continuation.resume(with: outcome) }
        // Only now: what it is to end waits.
        timer = Task {
          try await Task.sleep(for: timeout)
          fail(id, of: occupant) { self.refusal(of: occupant, $0) }
        }
      }
    } onCancel: {
      fail(id, of: occupant) { _ in CancellationError() }
    }
  }

  private func mayRun(_ occupant: Occupant, _ state: State) -> Bool {
    state.running.values.reduce(0, +) < connections && state.running[occupant, default: 0] < share(of: occupant)
  }

  private func begin(_ occupant: Occupant, _ state: inout State) -> Bool {
    guard mayRun(occupant, state) else { return false }
    state.running[occupant, default: 0] += 1
    return true
  }

  private func release(_ occupant: Occupant) {
    let waiter = state.withLock { state -> Waiter? in
      state.running[occupant, default: 0] -= 1
      if state.running[occupant] == 0 { state.running[occupant] = nil }
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
  private func fail(_ id: Int, of occupant: Occupant, _ error: (Int) -> any Error) {
    let failed = state.withLock { state -> (Waiter, Int)? in
      guard let index = state.waiting[occupant]?.firstIndex(where: { $0.id == id }),
        let waiter = state.waiting[occupant]?.remove(at: index)
      else { return nil }
      if state.waiting[occupant]?.isEmpty == true {
        state.waiting[occupant] = nil
        state.order.removeAll { $0 == occupant }
      }
      return (waiter, state.running[occupant, default: 0])
    }
    if let (waiter, running) = failed { waiter.continuation.resume(throwing: error(running)) }
  }

  private func refusal(of occupant: Occupant, _ running: Int) -> Problem {
    if running >= share(of: occupant) { return Self.tooMany }
    return ProblemKind.overloaded.problem(
      "The lists of other clients take all connections that are for lists.", headers: Self.soon)
  }

  private static let soon: HeaderFields = ["Retry-After": "5"]

  private static var tooMany: Problem {
    ProblemKind.tooManyRequests.problem(
      "The client asks for more lists at the same time than its share.", headers: soon)
  }
}
