package import Model

/// Where a job stands in its life, and what may become of it: the rules that the queue's statements carry out.
///
/// Pure. The statements are held to it by a test that lets both go through the same random events. docs/queue.md has a
/// picture of it.
package struct JobLife: Sendable, Hashable {
  /// What the database distinguishes.
  package enum Place: Sendable, Hashable {
    /// Waits for its time.
    case scheduled
    /// Its time has come, and its limit has no room.
    case throttled
    case available
    case executing
    case completed
    case cancelled
    case dead
  }

  /// What can happen to a job.
  package enum Event: Sendable, Hashable, CaseIterable {
    /// Its time has come.
    case due
    /// Its limit has room for it.
    case granted
    /// A worker takes it.
    case claimed
    /// Its holder is done, whatever the verdict.
    case completed
    /// Its holder failed, and there is another attempt.
    case retried
    /// Its holder failed, and there is none.
    case buried
    /// Its holder wants it later; the attempt does not count.
    case snoozed
    /// Its holder gives it back; the attempt does not count.
    case released
    /// Its holder lacks what every job needs; the attempt does not count.
    case postponed
    /// The holder was lost, and the job is not to blame; the attempt does not count.
    case lost
    /// The holder was lost with this job alone, or the deadline ran out.
    case blamed
    /// Somebody wants it cancelled.
    case cancelled
    /// Somebody wants it to be tried at once, or again.
    case retriedNow
  }

  package private(set) var place: Place
  /// The attempts that count, with the one that executes.
  package private(set) var attempt = 0
  /// How often it was taken from its worker; a job out of attempts that is tried again starts anew.
  package private(set) var lost = 0
  /// How often it took the blame for that.
  private var blamed = 0
  /// Whether its holder is to stop.
  package private(set) var isToBeCancelled = false
  let maxAttempts: Int
  let isLimited: Bool

  /// A job that is submitted.
  package init(maxAttempts: Int, isScheduled: Bool = false, isLimited: Bool = false) {
    self.maxAttempts = maxAttempts
    self.isLimited = isLimited
    place = isScheduled ? .scheduled : isLimited ? .throttled : .available
  }

  /// What others see of it.
  package var state: JobState {
    switch place {
    case .scheduled, .throttled: .scheduled
    case .available: .available
    case .executing: .executing
    case .completed: .completed
    case .cancelled: .cancelled
    case .dead: .dead
    }
  }

  /// The life after an event; nil if it cannot happen there, which changes nothing.
  package func after(_ event: Event) -> JobLife? {
    var next = self
    switch (place, event) {
    case (.scheduled, .due), (.scheduled, .retriedNow): next.place = waiting
    case (.throttled, .granted): next.place = .available
    case (.available, .claimed):
      next.place = .executing
      next.attempt += 1
    case (.executing, .completed): next.place = .completed
    // One that is to be cancelled gets no further attempt: its holder ends it instead.
    case (.executing, .retried), (.executing, .snoozed), (.executing, .postponed), (.executing, .released),
      (.executing, .buried):
      if isToBeCancelled {
        next.place = .cancelled
      } else {
        next.leave(by: event)
      }
    case (.executing, .lost), (.executing, .blamed): next.lose(isBlamed: event == .blamed)
    case (.executing, .cancelled): next.isToBeCancelled = true
    case (.scheduled, .cancelled), (.throttled, .cancelled), (.available, .cancelled): next.place = .cancelled
    case (.dead, .retriedNow):
      next = JobLife(maxAttempts: maxAttempts, isLimited: isLimited)
    default: return nil
    }
    return next
  }

  /// Where it waits once its time has come.
  private var waiting: Place { isLimited ? .throttled : .available }

  private mutating func leave(by event: Event) {
    switch event {
    case .retried: place = .scheduled
    case .snoozed, .postponed:
      place = .scheduled
      attempt -= 1
    case .released:
      place = waiting
      attempt -= 1
    default: place = .dead
    }
  }

  // Who takes the blame loses the attempt. A job that costs one worker after the other is dead.
  private mutating func lose(isBlamed: Bool) {
    lost += 1
    guard isBlamed else {
      place = isToBeCancelled ? .cancelled : .scheduled
      // One that is over keeps the attempt that it was in.
      if !isToBeCancelled { attempt -= 1 }
      return
    }
    blamed += 1
    let mayReturn = attempt < maxAttempts && blamed < FaultPolicy().maxBlamed
    place = isToBeCancelled ? .cancelled : mayReturn ? .scheduled : .dead
  }
}
