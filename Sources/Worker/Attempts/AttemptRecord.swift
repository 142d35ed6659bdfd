import Logging
import MediaProcess
import Model
import Postgres
import Queue
import Store

/// Writes down how an attempt ended: each ending is one transaction, fenced by the job's token.
struct AttemptRecord: Sendable {
  let job: ClaimedJob
  let pool: Pool
  let store: Store
  let log: Logger
  var policy = RetryPolicy()
  /// Media that broke the media process so often are refused.
  static let mostCrashes = 2

  /// Writes it down; a lease that was lost meanwhile makes it void, and a database that is away leaves it to the reaper.
  ///
  /// - Parameter work: nil if the job could not even be read.
  func write(_ ending: AttemptEnding, of work: PostWork?) async {
    do {
      try await pool.transaction(patience: .seconds(20)) { session in try write(ending, of: work, session) }
      try await pool.transaction { [store] session in try store.collectReleased(session) }
    } catch let lost as LeaseLost {
      log.warning("an attempt ended too late", ["error": lost.description])
    } catch {
      log.error("the end of an attempt could not be written; another will be made", ["error": "\(error)"])
    }
  }

  private func write(_ ending: AttemptEnding, of work: PostWork?, _ session: Session) throws {
    switch ending {
    case .published:
      log.info("post published", ["post": work?.post.description])
    case .rejected(let verdict):
      guard let work else { return }
      try reject(work, verdict, session)
    case .broken(let failure):
      guard let work else { return }
      let crashes = try store.countCrash(of: work, error: failure.detail, session)
      guard crashes >= Self.mostCrashes else {
        log.warning("the media process broke", ["error": failure.description])
        return try retry(failure.description, session)
      }
      let code: ReasonCode = failure.kind == .deadlineExceeded ? .deadlineExceeded : .decoderCrashed
      let reason = Reason(code, input: nil, detail: "\(failure.detail), \(crashes) times; film the moment again")
      try reject(work, Verdict(reasons: [reason], inputs: [:], decisions: []), session)
    case .failed(let error):
      log.warning("an attempt failed", ["error": error])
      try retry(error, session)
    case .stopped(.drained):
      try JobQueue.release(job, session)
      log.info("job given back")
    case .stopped(.cancelled):
      try JobQueue.complete(job, .cancelled, result: nil, session)
      try store.fail(job: job.publicID, session)
      log.info("job cancelled")
    case .stopped(.leaseLost):
      log.warning("the lease was lost; nothing is written")
    }
  }

  private func reject(_ work: PostWork, _ verdict: Verdict, _ session: Session) throws {
    try store.reject(work, job: job, verdict: verdict, session)
    let codes = verdict.reasons.map(\.code.rawValue).joined(separator: ",")
    log.info("post rejected", ["post": work.post.description, "reasons": codes])
  }

  private func retry(_ error: String, _ session: Session) throws {
    switch policy.next(attempt: job.attempt, maxAttempts: job.maxAttempts, random: .random(in: 0...1)) {
    case .retry(let seconds): try JobQueue.retry(job, afterSeconds: seconds, error: error, session)
    case .bury:
      try JobQueue.bury(job, error: error, session)
      try store.fail(job: job.publicID, session)
      log.error("job dead", ["error": error])
    }
  }
}
