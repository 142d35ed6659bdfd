import Postgres
import Queue
import QueueWorker
import Store

/// Carries out the short jobs that are no media's.
struct TaskHandler: ShortJobHandler {
  let store: Store

  func carryOut(_ job: ClaimedJob, _ session: Session) throws -> MemberEnding {
    switch TaskKind(rawValue: job.kind) {
    case .window: try store.openWindow(for: job, session)
    // Perhaps a newer worker knows it: it is tried again, until its attempts are used up.
    case nil: throw StoreError.unknownKind(job.kind, job.publicID)
    }
    return .completed()
  }

  func tell(of jobs: [ClaimedJob], _ session: Session) throws {
    try store.tellOfWindows(openedBy: jobs, session)
    for job in jobs { try JobQueue.tell(of: job.publicID, session) }
  }
}
