import Model
import Postgres
import Queue
import QueueWorker

/// Carries out the short jobs of a run; they end with their group.
struct ShortHandler: ShortJobHandler {
  let ledger: Ledger

  func tell(of jobs: [ClaimedJob], _ session: Session) throws {
    try JobQueue.tell(of: jobs.map(\.publicID), session)
  }

  func carryOut(_ job: ClaimedJob, _ session: Session) throws -> MemberEnding {
    try ledger.write(.began(job.publicID, token: job.token, attempt: job.attempt))
    let spec = try ChaosJob(job)
    switch spec.behaviour {
    case .breaks: throw HandlerError()
    case .fails where job.attempt == 1: throw HandlerError()
    case .refuses: return .completed(.rejected)
    case .snoozes where job.attempt == 1: return .retry(seconds: 0.1, error: HandlerError().description)
    case .cancelsItself:
      _ = try JobQueue.cancel(job.publicID, session)
      return .retry(seconds: 0.1, error: HandlerError().description)
    case .works, .fails, .snoozes, .drains: break
    }
    try session.execute(ChaosSchema.statements["effect"], .text(job.publicID.description), .integer(job.token))
    return .completed()
  }
}
