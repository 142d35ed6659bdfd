import Blobs
import MediaProcess
import Model
import Postgres
import Queue
import Store
import Telemetry

/// Writes the ending of an attempt to the database, in one transaction that the job's token fences.
struct AttemptRecord: Sendable {
  let held: HeldJob
  let pool: Pool
  let store: Store
  let log: Logger
  private let clock: any WorkerClock
  /// The start of the attempt.
  private let start = ContinuousClock.now

  /// The log entry and the outcome after the commit.
  private struct Note: Sendable {
    var level = LogLevel.info
    let message: String
    var error: String?
    var subject: Subject?
    /// The outcome in the metrics.
    let outcome: String
    /// Whether what was submitted is ready, or seen for the first time, by this attempt.
    var isReady = false
    /// A job that others wait for, and that this one has changed something for.
    var related: PublicID?
    /// The code of the crashes of an input that was quarantined.
    var quarantined: ReasonCode?
  }

  init(held: HeldJob, pool: Pool, store: Store, log: Logger, clock: any WorkerClock = ContinuousClock()) {
    self.held = held
    self.pool = pool
    self.store = store
    self.log = log
    self.clock = clock
  }

  private var job: ClaimedJob { held.job }

  /// The input that the remedy is for; nil for both clips of a moment.
  private static func input(_ work: Work) -> InputName? {
    switch work.content {
    case .moment: nil
    case .clip: .clip
    case .photos: .photo
    }
  }

  /// Writes the ending, with retries during an outage of the database as long as the worker holds the lease.
  ///
  /// The token makes retries safe: after a commit whose acknowledgement was lost, the retry fails with a lost lease.
  ///
  /// - Returns: the ending that was written, or that could not be written.
  @discardableResult
  func write(_ ending: AttemptEnding) async -> AttemptEnding {
    var ending = ending
    while true {
      do {
        let outputs = if case .accepted(_, _, let outputs, _) = ending { outputs } else { [NewAsset]() }
        let note = try await store.transaction(publishing: outputs, pool, timeout: .seconds(5)) { [ending] session in
          try write(ending, session)
        }
        log.log(
          note.level, note.message,
          [note.subject?.kind ?? "post": note.subject?.id.description, "error": note.error])
        // Before clients are notified, who may read the metrics then.
        held.endStage()
        held.end(note.outcome)
        if note.isReady { held.countReady() }
        if let code = note.quarantined { held.countQuarantined(code) }
        await notify(note.related)
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
        try? await clock.sleep(for: .milliseconds(200))
      } catch let error as PostgresError where error.isInvalidValue && ending.hasFindings {
        // The verdict contains text from the media that the database cannot store in its encoding.
        log.warning("the findings in the media cannot be stored", ["error": "\(error)"])
        ending = ending.withoutFindings
      } catch {
        switch ending {
        // The outputs cannot be published, for instance because the disk is full; or the subject of the source was deleted.
        case .accepted, .damaged: ending = AttemptEnding(error)
        default:
          log.error("the end of an attempt could not be written; the job will be reaped", ["error": "\(error)"])
          return ending
        }
      }
    }
  }

  // Clients that miss the notification poll.
  private func notify(_ related: PublicID?) async {
    let jobs = [job.publicID] + (related.map { [$0] } ?? [])
    _ = try? await pool.run { session in try JobQueue.notifyChange(of: jobs, session) }
  }

  // A maintenance task collects later if this fails.
  private func collect() async {
    do {
      try await store.collecting.collectReleased(pool)
    } catch {
      log.warning("released blobs could not be collected yet", ["error": "\(error)"])
    }
  }

  private func write(_ ending: AttemptEnding, _ session: Session) throws -> Note {
    switch ending {
    case .accepted(let work, let verdict, let outputs, let recipe):
      let isShown = try store.publish(
        outputs, of: work, recipe: recipe, job: job, verdict: verdict, seconds: start.duration(to: .now) / .seconds(1),
        session)
      let message =
        work.look == nil
        ? "\(work.subject.kind) published" : isShown ? "first look published" : "the outputs came before the first look"
      return Note(
        message: message, subject: work.subject, outcome: "accepted", isReady: isShown && work.reprocessing == nil,
        related: work.look?.composition)
    case .rejected(let work, let verdict):
      return try reject(work, verdict, session)
    case .broken(let work, let crash):
      return try count(crash, of: work, session)
    case .interrupted(let work, let failure):
      // The media are not suspect if a first look was interrupted, which decodes little of them.
      if work.look == nil { try Quarantine.markSuspect(work, error: failure.detail, session) }
      return try postpone("an attempt was interrupted", failure.description, session)
    case .unable(let outage):
      return try postpone("an attempt was not possible", outage.description, session)
    case .crowded:
      try JobQueue.snooze(job, seconds: 2, session)
      return Note(message: "job snoozed: it has to run isolated", outcome: "snoozed")
    case .damaged(let error, _):
      // Throws if the subject was deleted since the attempt began: then its sources are missing by right.
      _ = try store.work(for: job, session)
      return try retry("a source is damaged", error.description, session)
    case .failed(let error):
      return try retry("an attempt failed", error, session)
    case .stopped(.drained):
      try JobQueue.release(job, session)
      return Note(message: "job released", outcome: "released")
    case .stopped(.cancelled):
      try JobQueue.complete(job, .cancelled, result: nil, session)
      try JobControl.fail(job: job.publicID, session)
      return Note(message: "job cancelled", outcome: "cancelled")
    case .stopped(.leaseLost):
      return Note(level: .warning, message: "the lease was lost; nothing is written", outcome: "lost")
    case .unchanged(let work):
      try JobQueue.complete(job, .accepted, result: nil, session)
      try Reprocessing.end(itemOf: job.publicID, .skipped, session)
      return Note(message: "outputs are up to date", subject: work.subject, outcome: "skipped")
    case .withoutLook(let work, let reason):
      try JobQueue.complete(job, .cancelled, result: nil, session)
      return Note(
        message: "no first look", error: reason, subject: work.subject, outcome: "cancelled",
        related: work.look?.composition)
    case .superseded(let ending):
      try JobQueue.complete(job, .cancelled, result: nil, session)
      try Reprocessing.end(itemOf: job.publicID, ending, session)
      return Note(message: "the item of a run was not processed", outcome: "cancelled")
    }
  }

  private func reject(_ work: Work, _ verdict: Verdict, _ session: Session) throws -> Note {
    try store.reject(work, job: job, verdict: verdict, session)
    let codes = verdict.reasons.map(\.code.rawValue).joined(separator: ", ")
    return Note(message: "\(work.subject.kind) rejected: \(codes)", subject: work.subject, outcome: "rejected")
  }

  private func count(_ crash: CrashFacts, of work: Work, _ session: Session) throws -> Note {
    let count = try Quarantine.countCrash(crash, of: work, session)
    guard count.crashes >= Quarantine.maxCrashes else {
      // The attempt does not count: the next one, which is isolated, shows whether the media are the cause.
      return try postpone("the media process crashed", crash.description, session)
    }
    let input = Self.input(work)
    let remedy = Remedy(for: crash.code, input: input)
    var reason = Reason(crash.code, input: input, detail: "\(crash.error), \(count.crashes) times; \(remedy.clause)")
    reason.photo = crash.photo
    var note = try reject(work, Verdict(reasons: [reason], inputs: [:], decisions: []), session)
    if count.quarantines { note.quarantined = crash.code }
    return note
  }

  private func retry(_ message: String, _ error: String, _ session: Session) throws -> Note {
    guard try JobQueue.fail(job, error: error, session) else { return try bury(message, error, session) }
    return Note(level: .warning, message: message, error: error, outcome: "retried")
  }

  /// Postpones the job without counting the attempt.
  private func postpone(_ message: String, _ error: String, _ session: Session) throws -> Note {
    guard try JobQueue.postpone(job, error: error, session) else { return try bury(message, error, session) }
    return Note(level: .warning, message: message, error: error, outcome: "postponed")
  }

  /// Fails the subject of a job that is dead now.
  private func bury(_ message: String, _ error: String, _ session: Session) throws -> Note {
    try JobControl.fail(job: job.publicID, session)
    return Note(level: .error, message: "job dead: \(message)", error: error, outcome: "dead")
  }
}
