/// The pauses before the attempts of a job; the statements decide by them when a job runs again, and whether it does.
package struct RetryPolicy: Sendable, Hashable {
  /// The pause after the first failed attempt, in seconds; it doubles with each further one. Each pause is scaled by a
  /// random factor of 0.5 to 1.5, so that jobs that failed together do not return together.
  package var firstPause: Double
  /// In seconds.
  package var maxPause: Double
  /// The time after its first postponement, or its first loss without blame, for which a job is tried again, in seconds;
  /// each pause is a quarter of the time that has passed.
  package var maxPostponement: Double

  package init(firstPause: Double = 1, maxPause: Double = 300, maxPostponement: Double = 24 * 60 * 60) {
    self.firstPause = firstPause
    self.maxPause = maxPause
    self.maxPostponement = maxPostponement
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
  /// The pauses of jobs that are not blamed.
  package var retries = RetryPolicy()
  /// The shortest pause before a job that died within a loss window is revived.
  package var minRevivalPause = Duration.seconds(30)

  package init() {}
}
