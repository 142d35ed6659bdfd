/// The state of a job in the queue.
package enum JobState: String, Codable, Sendable, CaseIterable {
  /// Waits for its time, for instance between two attempts.
  case scheduled
  /// Waits for a worker.
  case available
  /// A worker holds its lease.
  case executing
  /// Ended with a verdict, accepted or rejected.
  case completed
  case cancelled
  /// Has no attempts left; an operator may retry it.
  case dead

  /// Whether the job stays in this state unless an operator acts.
  package var isFinal: Bool { self == .completed || self == .cancelled || self == .dead }
}

/// The job of a post or an image, as the API reports it.
package struct JobSummary: Sendable, Hashable {
  package let id: PublicID
  package let state: JobState
  /// 0 to 1.
  package let progress: Double
  /// Whether it waits, and goes ahead if a client waits for it.
  package let mayGoAhead: Bool

  package init(id: PublicID, state: JobState, progress: Double, mayGoAhead: Bool) {
    self.id = id
    self.state = state
    self.progress = progress
    self.mayGoAhead = mayGoAhead
  }
}

/// The progress of an attempt.
package struct JobProgress: Sendable, Hashable {
  /// 0 to 1, in thousandths.
  package let fraction: Double
  /// The current step: `probe`, `compose`, `publish`.
  package let stage: String

  /// - Parameter fraction: clamped to 0...1, NaN to 0: the value comes from a media process or a row.
  package init(fraction: Double, stage: String) {
    // Thousandths: the database stores fewer bits than a Double has, and would return other digits.
    self.fraction = fraction.isNaN ? 0 : (min(max(fraction, 0), 1) * 1000).rounded() / 1000
    self.stage = stage
  }
}
