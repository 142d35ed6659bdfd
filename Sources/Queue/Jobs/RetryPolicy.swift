/// Decides whether and when a job gets another attempt; pure, without a clock.
package struct RetryPolicy: Sendable, Hashable {
  /// The consequence of a failed attempt.
  package enum Next: Sendable, Hashable {
    /// Another attempt after a pause.
    case retry(seconds: Double)
    /// No further attempt.
    case bury
  }

  /// The pause after the first failed attempt, in seconds; it doubles with each further one.
  package var firstPause: Double
  /// In seconds.
  package var maxPause: Double
  /// The time after its first postponement for which a job is postponed again, in seconds.
  package var maxPostponement: Double

  package init(firstPause: Double = 1, maxPause: Double = 300, maxPostponement: Double = 24 * 60 * 60) {
    self.firstPause = firstPause
    self.maxPause = maxPause
    self.maxPostponement = maxPostponement
  }

  /// The consequence of a failed attempt: a pause that doubles with each attempt, or none if no attempts are left.
  ///
  /// - Parameters:
  ///   - attempt: the number of the failed attempt, from 1.
  ///   - random: 0 to 1; scales the pause by 0.5 to 1.5, so that jobs that failed together do not return together.
  package func next(attempt: Int, maxAttempts: Int, random: Double) -> Next {
    guard attempt < maxAttempts else { return .bury }
    var pause = firstPause
    for _ in 1..<max(attempt, 1) where pause < maxPause { pause *= 2 }
    return .retry(seconds: min(pause, maxPause) * (0.5 + random))
  }

  /// The consequence of an attempt that failed through no fault of the job: a pause of a quarter of the time since the
  /// first postponement, or none after `maxPostponement`.
  ///
  /// - Parameters:
  ///   - seconds: the time since the first postponement; nil: this is the first.
  ///   - random: 0 to 1; scales the pause by 0.5 to 1.5.
  package func next(postponedFor seconds: Double?, random: Double) -> Next {
    let passed = seconds ?? 0
    guard passed < maxPostponement else { return .bury }
    return .retry(seconds: min(max(firstPause, passed / 4), maxPause) * (0.5 + random))
  }
}

/// Decides when a job is blamed for the loss of its worker, and how long a job that is not blamed is tried again.
package struct FaultPolicy: Sendable, Hashable {
  /// A job that is blamed this often is dead.
  package var maxBlamed = 3
  /// The stages, as jobs report them, in which a job can crash its worker; a job in another stage is not blamed.
  package var stagesAtRisk: Set<String> = []
  /// The time after the loss of a worker with other jobs during which no job is blamed.
  package var lossWindow = Duration.seconds(600)
  /// The time after its first loss without blame for which a job is tried again.
  package var maxPostponement = Duration.seconds(24 * 60 * 60)
  /// The shortest pause before a job that died within a loss window is revived.
  package var minRevivalPause = Duration.seconds(30)

  package init() {}
}
