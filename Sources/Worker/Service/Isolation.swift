import Platform

/// Lets attempts work beside each other, or one alone: first come, first served.
///
/// What was cut off before works alone, so that it is seen what cuts it off, and so that it takes no other with it.
final class Isolation: Sendable {
  private struct Waiter {
    let isAlone: Bool
    let continuation: CheckedContinuation<Void, Never>
  }

  private struct State {
    var working = 0
    var isTaken = false
    var waiters: [Waiter] = []

    /// Whether one that comes now may begin.
    func admits(isAlone: Bool) -> Bool { !isTaken && (!isAlone || working == 0) }

    mutating func begin(isAlone: Bool) {
      working += 1
      isTaken = isAlone
    }
  }

  private let state = Locked(State())

  /// Returns when it may begin.
  func enter(alone isAlone: Bool) async {
    await withCheckedContinuation { continuation in
      let mayBegin = state.withLock { state in
        guard state.waiters.isEmpty, state.admits(isAlone: isAlone) else {
          state.waiters.append(Waiter(isAlone: isAlone, continuation: continuation))
          return false
        }
        state.begin(isAlone: isAlone)
        return true
      }
      if mayBegin { continuation.resume() }
    }
  }

  /// It is done.
  func leave() {
    let next = state.withLock { state in
      state.working -= 1
      state.isTaken = false
      var next: [Waiter] = []
      while let first = state.waiters.first, state.admits(isAlone: first.isAlone) {
        state.begin(isAlone: first.isAlone)
        next.append(state.waiters.removeFirst())
      }
      return next
    }
    for waiter in next { waiter.continuation.resume() }
  }
}
