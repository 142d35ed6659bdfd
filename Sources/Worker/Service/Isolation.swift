import Platform

/// Lets attempts work beside each other, or one alone: first come, first served.
///
/// What was cut off before works alone, so that it is seen what cuts it off, and so that it takes no other with it.
final class Isolation: Sendable {
  private struct Waiter {
    let number: Int
    let isAlone: Bool
    let continuation: CheckedContinuation<Bool, Never>
  }

  private struct State {
    var working = 0
    var isTaken = false
    var waiters: [Waiter] = []
    var numbers = 0

    /// Whether one that comes now may begin.
    func admits(isAlone: Bool) -> Bool { !isTaken && (!isAlone || working == 0) }

    mutating func begin(isAlone: Bool) {
      working += 1
      isTaken = isAlone
    }

    /// Takes out those at the head of the line that may begin now.
    mutating func admitNext() -> [Waiter] {
      var next: [Waiter] = []
      while let first = waiters.first, admits(isAlone: first.isAlone) {
        begin(isAlone: first.isAlone)
        next.append(waiters.removeFirst())
      }
      return next
    }
  }

  private let state = Locked(State())

  /// Whether one works alone, or waits to: whoever else comes would wait.
  var isReserved: Bool { state.withLock { $0.isTaken || $0.waiters.contains(where: \.isAlone) } }

  /// Returns true when it may begin, and false if that takes longer than `limit`: then it has not begun, and those behind
  /// it go on.
  func enter(alone isAlone: Bool, within limit: Duration) async -> Bool {
    let number = state.withLock { state in
      state.numbers += 1
      return state.numbers
    }
    let timer = Task {
      try? await Task.sleep(for: limit)
      if !Task.isCancelled { giveUp(number) }
    }
    defer { timer.cancel() }
    return await withCheckedContinuation { continuation in
      let mayBegin = state.withLock { state in
        guard state.waiters.isEmpty, state.admits(isAlone: isAlone) else {
          state.waiters.append(Waiter(number: number, isAlone: isAlone, continuation: continuation))
          return false
        }
        state.begin(isAlone: isAlone)
        return true
      }
      if mayBegin { continuation.resume(returning: true) }
    }
  }

  /// It is done.
  func leave() {
    let next = state.withLock { state in
      state.working -= 1
      state.isTaken = false
      return state.admitNext()
    }
    for waiter in next { waiter.continuation.resume(returning: true) }
  }

  private func giveUp(_ number: Int) {
    let (late, next) = state.withLock { state -> (Waiter?, [Waiter]) in
      guard let place = state.waiters.firstIndex(where: { $0.number == number }) else { return (nil, []) }
      return (state.waiters.remove(at: place), state.admitNext())
    }
    late?.continuation.resume(returning: false)
    for waiter in next { waiter.continuation.resume(returning: true) }
  }
}
