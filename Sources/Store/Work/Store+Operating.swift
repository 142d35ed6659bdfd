package import Model
package import Postgres
package import Queue

/// Cancellation and retries of jobs, and the loss of workers, with the changes to posts and images in the same
/// transaction.
extension Store {
  /// Cancels a job. The subject of a waiting job fails at once, that of an executing job when its worker stops.
  package func cancel(job: PublicID, _ session: Session) throws(PostgresError) -> CancelOutcome {
    try cancel(jobs: [job], session)[job] ?? .notLive
  }

  /// Cancels jobs. Jobs that are not in the result were not live.
  package func cancel(jobs: [PublicID], _ session: Session) throws(PostgresError) -> [PublicID: CancelOutcome] {
    let outcomes = try JobQueue.cancel(jobs, session)
    try fail(jobs: outcomes.filter { $0.value == .cancelled }.keys.sorted(), session)
    return outcomes
  }

  /// Retries now a dead job, or one that waits for its next attempt; false if it is neither, or if another live job has
  /// its unique key.
  ///
  /// The caller notifies the workers (`JobQueue.notify`).
  package func retry(job: PublicID, _ session: Session) throws(PostgresError) -> Bool {
    try !retry(jobs: [job], session).isEmpty
  }

  /// Retries now those of the jobs that are dead or wait for their next attempt, and returns their queues.
  ///
  /// The caller notifies the workers of these queues (`JobQueue.notify`).
  package func retry(jobs: [PublicID], _ session: Session) throws(PostgresError) -> [PublicID: String] {
    let queues = try JobQueue.retryNow(jobs, session)
    try reopen(queues.keys.sorted(), session)
    return queues
  }

  /// Retries jobs that died within the loss window of another job, and returns their queues.
  ///
  /// The caller notifies the workers of these queues (`JobQueue.notify`).
  package func revive(by policy: FaultPolicy, _ session: Session) throws(PostgresError) -> [PublicID: String] {
    let queues = try JobQueue.revive(by: policy, session)
    try reopen(queues.keys.sorted(), session)
    return queues
  }

  private func reopen(_ jobs: [PublicID], _ session: Session) throws(PostgresError) {
    guard !jobs.isEmpty else { return }
    let ids = Parameter.texts(jobs.map(\.description))
    for statement in [Self.statements["reopen"], Self.statements["reopen_image"]] {
      try session.execute(statement, ids)
    }
    try session.execute(Self.runStatements["reopen_items_of_jobs"], ids)
  }

  /// Fails the posts and images of reaped jobs that get no further attempt.
  package func fail(_ reaped: [Reaped], _ session: Session) throws(PostgresError) {
    try fail(jobs: reaped.filter(\.state.isFinal).map(\.publicID), session)
  }
}
