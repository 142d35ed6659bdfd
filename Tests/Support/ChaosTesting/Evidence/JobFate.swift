package import Model

/// Where a job stands when all is over.
package struct JobFate: Sendable, Hashable {
  /// Which of the queue's tables has it.
  package enum Place: Sendable, Hashable {
    case live
    case completed
    case rejected
    case cancelled
    case dead
  }

  package let job: PublicID
  package let place: Place
  /// Of the attempt that ended it.
  package let token: Int64?
  package let attempt: Int
  package let maxAttempts: Int
  package let lost: Int
  /// Whether the calendar made it, and no producer.
  package let isOfCron: Bool

  package init(
    _ job: PublicID, _ place: Place, token: Int64? = nil, attempt: Int = 1, maxAttempts: Int = 5, lost: Int = 0,
    isOfCron: Bool = false
  ) {
    self.job = job
    self.place = place
    self.token = token
    self.attempt = attempt
    self.maxAttempts = maxAttempts
    self.lost = lost
    self.isOfCron = isOfCron
  }
}
