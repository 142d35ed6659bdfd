import Glibc

/// The failpoints of this process, from the variable `TAKE5_FAILPOINTS`, which is read once.
package enum Failpoints {
  package static let variable = "TAKE5_FAILPOINTS"

  private static let text = getenv(variable).map { String(cString: $0) } ?? ""
  private static let plan = Result { () throws(FailpointError) in try FailpointPlan(text) }
  private static let armed: ArmedFailpoints? =
    text.isEmpty ? nil : (try? plan.get()).map { ArmedFailpoints($0, act: perform) }

  /// Whether anything can happen at any point.
  package static let areArmed = armed != nil

  /// Throws if the variable cannot be read, or names a point or an action that does not exist; to be called at the start.
  ///
  /// - Parameter known: all that the program has.
  package static func check(_ known: [Failpoint]) throws(FailpointError) { try plan.get().check(known) }

  /// Passes a point; whether the caller is to cut its connection there.
  @discardableResult
  package static func pass(_ point: @autoclosure () -> String) -> Bool { armed?.pass(point()) ?? false }
}

// Sent to the thread itself: it goes no step further, whichever thread the kernel would have chosen (signal(7)).
private func perform(_ action: FailpointAction) {
  switch action {
  case .kill: _ = pthread_kill(pthread_self(), SIGKILL)
  case .stop: _ = pthread_kill(pthread_self(), SIGSTOP)
  case .pause(let milliseconds): usleep(UInt32(milliseconds) * 1000)
  case .cut: break
  }
}
