package import Model
package import Postgres
package import Queue

/// Cancellation and retries of jobs, and the loss of workers, with the changes to posts and images in the same
/// transaction.
package enum JobControl {
  /// Cancels a job. The subject of a waiting job fails at once, the subject of an executing job when its worker stops.
  package static func cancel(job: PublicID, _ session: Session) throws(PostgresError) -> CancelOutcome {
    try cancel(jobs: [job], session)[job] ?? .notLive
  }

  /// Cancels jobs. Jobs that are not in the result were not live.
  package static func cancel(jobs: [PublicID], _ session: Session) throws(PostgresError) -> [PublicID: CancelOutcome] {
    let outcomes = try JobQueue.cancel(jobs, session)
    try fail(jobs: outcomes.filter { $0.value == .cancelled }.keys.sorted(), session)
    return outcomes
  }

  /// Retries now a dead job, or one that waits for its next attempt; false if it is neither, or if another live job has
  /// its unique key.
  ///
  /// The caller notifies the workers (`JobQueue.notify`).
  package static func retry(job: PublicID, _ session: Session) throws(PostgresError) -> Bool {
    try !retry(jobs: [job], session).isEmpty
  }

  /// Retries now the given jobs that are dead or wait for their next attempt, and returns their queues.
  ///
  /// The caller notifies the workers of these queues (`JobQueue.notify`).
  package static func retry(jobs: [PublicID], _ session: Session) throws(PostgresError) -> [PublicID: String] {
    let queues = try JobQueue.retryNow(jobs, session)
    try reopen(queues.keys.sorted(), session)
    return queues
  }

  /// Retries jobs that died within the loss window of another job, and returns their queues.
  ///
  /// The caller notifies the workers of these queues (`JobQueue.notify`).
  package static func revive(by policy: FaultPolicy, _ session: Session) throws(PostgresError) -> [PublicID: String] {
    let queues = try JobQueue.revive(by: policy, session)
    try reopen(queues.keys.sorted(), session)
    return queues
  }

  private static func reopen(_ jobs: [PublicID], _ session: Session) throws(PostgresError) {
    guard !jobs.isEmpty else { return }
    let ids = Parameter.texts(jobs.map(\.description))
    for statement in [Store.statements["reopen"], Store.statements["reopen_image"]] {
      try session.execute(statement, ids)
    }
    try session.execute(Reprocessing.statements["reopen_items_of_jobs"], ids)
    try Reprocessing.wake(session)
  }

  /// Fails the posts and images of reaped jobs that get no further attempt.
  package static func fail(_ reaped: [Reaped], _ session: Session) throws(PostgresError) {
    try fail(jobs: reaped.filter(\.state.isFinal).map(\.publicID), session)
  }

  /// Cancels the jobs of records that the transaction deletes, and returns the ones that no worker executes.
  @discardableResult
  package static func cancelJobs(_ rows: Rows, _ session: Session) throws -> [PublicID] {
    let outcomes = try JobQueue.cancel(rows.map { try $0.publicID("job") }, session)
    return outcomes.filter { $0.value == .cancelled }.keys.sorted()
  }

  /// Fails the subjects of cancelled jobs that another transaction deletes: until then they wait for no job. No user learns of it.
  package static func failDeleted(jobs: [PublicID], _ session: Session) throws(PostgresError) {
    guard !jobs.isEmpty else { return }
    let ids = Parameter.texts(jobs.map(\.description))
    try session.execute(Store.statements["fail"], ids)
    try session.execute(Store.statements["fail_image"], ids)
  }

  /// Fails the subject of a dead or cancelled job, if it still waits for outputs.
  package static func fail(job: PublicID, _ session: Session) throws(PostgresError) { try fail(jobs: [job], session) }

  /// Fails the subjects of dead or cancelled jobs, if they still wait for outputs.
  static func fail(jobs: [PublicID], _ session: Session) throws(PostgresError) {
    guard !jobs.isEmpty else { return }
    let ids = Parameter.texts(jobs.map(\.description))
    let posts = try session.execute(Store.statements["fail"], ids)
    try session.execute(Store.statements["fail_image"], ids)
    try session.execute(Reprocessing.statements["end_items_of_jobs"], ids)
    var failed: [(author: UserKey, post: PublicID)] = []
    for row in posts { failed.append((UserKey(try row.get("author")), try row.publicID("public_id"))) }
    for (author, post) in failed.sorted(by: { $0.author < $1.author }) {
      try Store.notify(author.text, of: .postFailed, by: nil, post: post, session)
    }
  }
}
