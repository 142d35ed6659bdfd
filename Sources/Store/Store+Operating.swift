package import Model
package import Postgres
package import Queue

/// What an operator does to jobs, with what follows for their posts in the same transaction.
extension Store {
  /// Cancels a job; a waiting one's post has failed from now on, a running one's when its worker stops.
  package func cancel(job: PublicID, _ session: Session) throws(PostgresError) -> Cancelling {
    try cancel(jobs: [job], session)[job] ?? .notLive
  }

  /// Cancels jobs; those that are not named in the answer were not live.
  package func cancel(jobs: [PublicID], _ session: Session) throws(PostgresError) -> [PublicID: Cancelling] {
    let outcomes = try JobQueue.cancel(jobs, session)
    try fail(jobs: outcomes.filter { $0.value == .cancelled }.keys.sorted(), session)
    return outcomes
  }

  /// Lets a dead job, or one that waits for its next attempt, be tried at once; false if it is neither, or if another
  /// live job has its key.
  ///
  /// Announce the job after the commit.
  package func retry(job: PublicID, _ session: Session) throws(PostgresError) -> Bool {
    try !retry(jobs: [job], session).isEmpty
  }

  /// Lets those of the jobs that can be be tried at once: which, and in which queue.
  ///
  /// Announce the queues after the commit.
  package func retry(jobs: [PublicID], _ session: Session) throws(PostgresError) -> [PublicID: String] {
    let queues = try JobQueue.retryNow(jobs, session)
    try reopen(queues.keys.sorted(), session)
    return queues
  }

  /// Lets jobs that died while the fleet was unwell be tried again by themselves: which, and in which queue.
  ///
  /// Announce the queues after the commit.
  package func revive(by policy: FaultPolicy, _ session: Session) throws(PostgresError) -> [PublicID: String] {
    let queues = try JobQueue.revive(by: policy, session)
    try reopen(queues.keys.sorted(), session)
    return queues
  }

  private func reopen(_ jobs: [PublicID], _ session: Session) throws(PostgresError) {
    guard !jobs.isEmpty else { return }
    let ids = Parameter.texts(jobs.map(\.description))
    for statement in ["reopen", "reopen_image"] { try session.execute(Self.statements[statement], ids) }
    try session.execute(Self.runStatements["reopen_items_of_jobs"], ids)
  }

  /// The posts and images of jobs that were taken from a lost worker have failed, if the jobs are over.
  package func fail(_ reaped: [Reaped], _ session: Session) throws(PostgresError) {
    try fail(jobs: reaped.filter(\.state.isFinal).map(\.publicID), session)
  }
}
