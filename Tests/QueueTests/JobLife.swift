import Model

@testable import Queue

/// The state machine of a job: its state, and the transitions that the queue's statements perform.
///
/// A test sends the statements and this value through the same random events and compares them. docs/queue.md has a
/// diagram.
struct JobLife: Sendable, Hashable {
  /// A state as the database distinguishes them.
  enum State: Sendable, Hashable {
    case scheduled
    case throttled
    case available
    case executing
    case completed
    case cancelled
    case dead
  }

  /// What can happen to a job.
  enum Event: Sendable, Hashable, CaseIterable {
    /// The time for which the job is scheduled has come.
    case due
    /// The limit of the job has room.
    case granted
    case claimed
    /// The holder completed the job, with either verdict.
    case completed
    /// The attempt failed, and attempts are left.
    case retried
    /// The attempt failed, and no attempt is left.
    case buried
    /// The holder puts the job off; the attempt does not count.
    case snoozed
    /// The holder returns the job unused; the attempt does not count.
    case released
    /// The holder puts the job off because of an outage; the attempt does not count.
    case postponed
    /// The holder was lost, and the job is not blamed; the attempt does not count.
    case lost
    /// The job is blamed for the loss of its holder, or passed its deadline.
    case blamed
    /// A client cancels the job.
    case cancelled
    /// An operator retries the job now.
    case retriedNow
  }

  private(set) var state: State
  /// The number of attempts that count, including the one that executes.
  private(set) var attempt = 0
  /// The number of times that the job was taken from its worker; retrying a dead job resets it.
  private(set) var lost = 0
  private var blamed = 0
  /// Whether cancellation was requested while the job executes.
  private(set) var isToBeCancelled = false
  let maxAttempts: Int
  let isLimited: Bool

  /// A submitted job.
  init(maxAttempts: Int, isScheduled: Bool = false, isLimited: Bool = false) {
    self.maxAttempts = maxAttempts
    self.isLimited = isLimited
    state = isScheduled ? .scheduled : isLimited ? .throttled : .available
  }

  /// The state as operators and clients see it: a throttled job is scheduled.
  var jobState: JobState {
    switch state {
    case .scheduled, .throttled: .scheduled
    case .available: .available
    case .executing: .executing
    case .completed: .completed
    case .cancelled: .cancelled
    case .dead: .dead
    }
  }

  /// The job after an event; nil if the event cannot happen in this state and changes nothing.
  func after(_ event: Event) -> JobLife? {
    var next = self
    switch (state, event) {
    case (.scheduled, .due), (.scheduled, .retriedNow): next.state = ready
    case (.throttled, .granted): next.state = .available
    case (.available, .claimed):
      next.state = .executing
      next.attempt += 1
    case (.executing, .completed): next.state = .completed
    // A job that is to be cancelled gets no further attempt: its holder cancels it instead.
    case (.executing, .retried), (.executing, .snoozed), (.executing, .postponed), (.executing, .released),
      (.executing, .buried):
      if isToBeCancelled {
        next.state = .cancelled
      } else {
        next.endAttempt(event)
      }
    case (.executing, .lost), (.executing, .blamed): next.lose(isBlamed: event == .blamed)
    case (.executing, .cancelled): next.isToBeCancelled = true
    case (.scheduled, .cancelled), (.throttled, .cancelled), (.available, .cancelled): next.state = .cancelled
    case (.dead, .retriedNow):
      next = JobLife(maxAttempts: maxAttempts, isLimited: isLimited)
    default: return nil
    }
    return next
  }

  /// The state of a job that is due.
  private var ready: State { isLimited ? .throttled : .available }

  private mutating func endAttempt(_ event: Event) {
    switch event {
    case .retried: state = .scheduled
    case .snoozed, .postponed:
      state = .scheduled
      attempt -= 1
    case .released:
      state = ready
      attempt -= 1
    default: state = .dead
    }
  }

  private mutating func lose(isBlamed: Bool) {
    lost += 1
    guard isBlamed else {
      state = isToBeCancelled ? .cancelled : .scheduled
      // The record of a cancelled job shows the attempt that was executing.
      if !isToBeCancelled { attempt -= 1 }
      return
    }
    blamed += 1
    let mayReturn = attempt < maxAttempts && blamed < FaultPolicy().maxBlamed
    state = isToBeCancelled ? .cancelled : mayReturn ? .scheduled : .dead
  }
}
