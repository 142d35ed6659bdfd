import Model
import Postgres
import Queue

extension DoctorCheck {
  /// Looks for jobs that wait long after an attempt: no worker has what they need, or none can read what they say.
  static func jobs(_ subject: DoctorSubject) async throws -> [CheckResult] {
    guard case .success(let access) = subject.database else { return [] }
    do {
      return [jobs(try await access.pool.run { session in try JobQueue.stalled(session) })]
    } catch let error as PostgresError where error.isUndefined {
      // There is no schema yet, or an older one: see the results of the database.
      return []
    }
  }

  static func jobs(_ stalled: StalledJobs?) -> CheckResult {
    guard let stalled else { return .ok("jobs", "waiting", "no job waits for more than an hour after an attempt") }
    return .warning(
      "jobs", "waiting",
      "\(CountText.text(stalled.jobs, "job")) of more than an hour ago \(stalled.jobs == 1 ? "waits" : "wait") after an attempt; "
        + "the oldest, \(stalled.oldest): \(stalled.error)",
      remedy: "remove the cause, upgrade the workers, or give up with 'take5 jobs cancel'")
  }
}
