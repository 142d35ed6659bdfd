import Blobs
import Logging
import MediaProcess
import Model
import Postgres
import Queue
import QueueWorker
import Store

/// Writes the ending of an attempt to the database, in one transaction that the job's token fences.
struct AttemptRecord: Sendable {
  let held: HeldJob
  let pool: Pool
  let store: Store
  let log: Logger
  var policy = RetryPolicy()
  /// The start of the attempt.
  private let start = ContinuousClock.now
  /// The number of confirmed crashes after which the media are rejected.
  static let maxCrashes = 2

  /// The log entry and the outcome after the commit.
  private struct Note: Sendable {
    var level = LogLevel.info
    let message: String
    var error: String?
    var subject: Subject?
    /// The outcome in the metrics.
    let outcome: String
  }

  init(held: HeldJob, pool: Pool, store: Store, log: Logger) {
    self.held = held
    self.pool = pool
    self.store = store
    self.log = log
  }

  private var job: ClaimedJob { held.job }

  /// The name of the log field for a subject.
  private static func field(_ subject: Subject) -> String {
    switch subject {
    case .post: "post"
    case .image: "image"
    }
  }

  private static func remedy(_ work: Work) -> String {
    switch work.content {
    case .moment: "film the moment again"
    case .clip: "film it again"
    case .photos: "take another photo"
    }
  }

  /// Writes the ending, with retries during an outage of the database as long as the worker holds the lease.
  ///
  /// The token makes retries safe: after a commit whose acknowledgement was lost, the retry fails with a lost lease.
  ///
  /// - Parameter work: nil if the work could not be read.
  /// - Returns: the ending that was written, or that could not be written.
  @discardableResult
  func write(_ ending: AttemptEnding, of work: Work?) async -> AttemptEnding {
    var ending = ending
    while true {
      do {
        let note = try await pool.transaction(timeout: .seconds(5)) { [ending] session in
          try write(ending, of: work, session)
        }
        log.log(
          note.level, note.message,
          [note.subject.map(Self.field) ?? "post": note.subject?.id.description, "error": note.error])
        held.end(note.outcome)
        await notify()
        await collect()
        return ending
      } catch let lost as LeaseLost {
        // The job may have been cancelled: then its token permits only the completion as cancelled.
        if case .stopped(.cancelled) = ending {
          log.warning("an attempt had ended before", ["error": lost.description])
          return ending
        }
        ending = .stopped(.cancelled)
      } catch let error as PostgresError where error.isTransient {
        log.warning("the end of an attempt could not be written yet", ["error": "\(error)"])
        if held.stopReason == .leaseLost {
          log.warning("the lease was lost; nothing is written")
          return ending
        }
        try? await Task.sleep(for: .milliseconds(200))
      } catch let error as PostgresError where error.isInvalidValue && ending.hasFindings {
        // The verdict contains text from the media that the database cannot store, such as U+0000.
        log.warning("the findings in the media cannot be stored", ["error": "\(error)"])
        ending = ending.withoutFindings
      } catch {
        guard case .accepted = ending else {
          log.error("the end of an attempt could not be written; the job will be reaped", ["error": "\(error)"])
          return ending
        }
        // The outputs cannot be published, for instance because the disk is full.
        ending = AttemptEnding(error, isIsolated: false)
      }
    }
  }

  // Clients that miss the notification poll.
  private func notify() async {
    _ = try? await pool.run { [job] session in try JobQueue.notifyChange(of: job.publicID, session) }
  }

  // A maintenance task collects later if this fails.
  private func collect() async {
    do {
      try await pool.transaction { [store] session in try store.collectReleased(session) }
    } catch {
      log.warning("released blobs could not be collected yet", ["error": "\(error)"])
    }
  }

  private func write(_ ending: AttemptEnding, of work: Work?, _ session: Session) throws -> Note {
    switch (ending, work) {
    case (.accepted(let verdict, let outputs, let recipe), let work?):
      try store.publish(
        outputs, of: work, recipe: recipe, job: job, verdict: verdict, seconds: start.duration(to: .now) / .seconds(1),
        session)
      return Note(message: "\(Self.field(work.subject)) published", subject: work.subject, outcome: "accepted")
    case (.rejected(let verdict), let work?):
      return try reject(work, verdict, session)
    case (.broken(let failure, let code, let isConfirmed), let work?):
      return try countCrash(failure, code, isConfirmed: isConfirmed, work, session)
    case (.interrupted(let failure), let work?):
      // Makes later attempts run isolated.
      _ = try store.countCrash(of: work, error: failure.detail, isConfirmed: false, session)
      return try postpone("an attempt was interrupted", failure.description, session)
    case (.unable(let outage), _):
      return try postpone("an attempt was not possible", outage.description, session)
    case (.crowded, _):
      try JobQueue.snooze(job, seconds: 2, session)
      return Note(message: "job snoozed: it has to run isolated", outcome: "snoozed")
    case (.damaged(let error, _), _):
      return try retry("a source is damaged", error.description, session)
    case (.failed(let error), _):
      return try retry("an attempt failed", error, session)
    case (.stopped(.drained), _):
      try JobQueue.release(job, session)
      return Note(message: "job released", outcome: "released")
    case (.stopped(.cancelled), _):
      try JobQueue.complete(job, .cancelled, result: nil, session)
      try store.fail(job: job.publicID, session)
      return Note(message: "job cancelled", outcome: "cancelled")
    case (.stopped(.leaseLost), _):
      return Note(level: .warning, message: "the lease was lost; nothing is written", outcome: "lost")
    case (.unchanged, let work?):
      try JobQueue.complete(job, .accepted, result: nil, session)
      try store.end(itemOf: job.publicID, .skipped, session)
      return Note(message: "outputs are up to date", subject: work.subject, outcome: "skipped")
    case (.superseded(let ending), _):
      try JobQueue.complete(job, .cancelled, result: nil, session)
      try store.end(itemOf: job.publicID, ending, session)
      return Note(message: "the item of a run was not processed", outcome: "cancelled")
    case (.accepted, nil), (.rejected, nil), (.broken, nil), (.interrupted, nil), (.unchanged, nil):
      preconditionFailure("this ending requires work")
    }
  }

  private func reject(_ work: Work, _ verdict: Verdict, _ session: Session) throws -> Note {
    try store.reject(work, job: job, verdict: verdict, session)
    let codes = verdict.reasons.map(\.code.rawValue).joined(separator: ", ")
    return Note(message: "\(Self.field(work.subject)) rejected: \(codes)", subject: work.subject, outcome: "rejected")
  }

  private func countCrash(
    _ failure: MediaFailure, _ code: ReasonCode, isConfirmed: Bool, _ work: Work, _ session: Session
  ) throws -> Note {
    let crashes = try store.countCrash(of: work, error: failure.detail, isConfirmed: isConfirmed, session)
    guard isConfirmed, crashes >= Self.maxCrashes else {
      // The attempt does not count: the next one, which is isolated, shows whether the media are the cause.
      return try postpone("the media process crashed", failure.description, session)
    }
    let reason = Reason(code, input: nil, detail: "\(failure.detail), \(crashes) times; \(Self.remedy(work))")
    return try reject(work, Verdict(reasons: [reason], inputs: [:], decisions: []), session)
  }

  private func retry(_ message: String, _ error: String, _ session: Session) throws -> Note {
    switch policy.next(attempt: job.attempt, maxAttempts: job.maxAttempts, random: .random(in: 0...1)) {
    case .retry(let seconds):
      try JobQueue.retry(job, afterSeconds: seconds, error: error, session)
      return Note(level: .warning, message: message, error: error, outcome: "retried")
    case .bury: return try bury(message, error, session)
    }
  }

  /// Postpones the job without counting the attempt; buries it when the policy's limit is reached.
  private func postpone(_ message: String, _ error: String, _ session: Session) throws -> Note {
    switch policy.next(postponedFor: job.postponedSeconds, random: .random(in: 0...1)) {
    case .retry(let seconds):
      try JobQueue.postpone(job, seconds: seconds, error: error, session)
      return Note(level: .warning, message: message, error: error, outcome: "postponed")
    case .bury: return try bury(message, error, session)
    }
  }

  private func bury(_ message: String, _ error: String, _ session: Session) throws -> Note {
    try JobQueue.bury(job, error: error, session)
    try store.fail(job: job.publicID, session)
    return Note(level: .error, message: "job dead: \(message)", error: error, outcome: "dead")
  }
}
