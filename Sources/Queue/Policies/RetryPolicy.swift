/// What follows an attempt that did not come to its end; pure, so that it can be tested without a clock.
package struct RetryPolicy: Sendable, Hashable {
  /// Another attempt, or none.
  package enum Next: Sendable, Hashable {
    /// After so many seconds.
    case retry(seconds: Double)
    /// The attempts are used up.
    case bury
  }

  /// The pause after the first failed attempt, in seconds; it doubles with each further one.
  package var firstPause: Double
  /// In seconds.
  package var maxPause: Double

  /// How long after the first fault that is not its own a job is tried again, in seconds.
  package var timeout: Double

  package init(firstPause: Double = 1, maxPause: Double = 300, timeout: Double = 24 * 60 * 60) {
    self.firstPause = firstPause
    self.maxPause = maxPause
    self.timeout = timeout
  }

  /// What follows attempt number `attempt` (the first is 1) of at most `maxAttempts`.
  ///
  /// - Parameter random: 0 to 1; spreads the pause from half to one and a half of itself, so that what failed together
  ///   does not come back together.
  package func next(attempt: Int, maxAttempts: Int, random: Double) -> Next {
    guard attempt < maxAttempts else { return .bury }
    var pause = firstPause
    for _ in 1..<max(attempt, 1) where pause < maxPause { pause *= 2 }
    return .retry(seconds: min(pause, maxPause) * (0.5 + random))
  }

  /// What follows an attempt that failed for something that is not its job's fault: a pause that grows with the time for
  /// which that lasts, and after a day the end.
  ///
  /// - Parameter seconds: since the first time; nil: this is the first.
  package func next(postponedFor seconds: Double?, random: Double) -> Next {
    let passed = seconds ?? 0
    guard passed < timeout else { return .bury }
    return .retry(seconds: min(max(firstPause, passed / 4), maxPause) * (0.5 + random))
  }
}
