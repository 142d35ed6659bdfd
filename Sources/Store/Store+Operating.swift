package import Model
package import Postgres
package import Queue

/// What an operator does to jobs, with what follows for their posts in the same transaction.
extension Store {
  /// Cancels a job; a waiting one's post has failed from now on, a running one's when its worker stops.
  package func cancel(job: PublicID, _ session: Session) throws(PostgresError) -> Cancelling {
    let outcome = try JobQueue.cancel(job, session)
    if outcome == .cancelled { try fail(job: job, session) }
    return outcome
  }

  /// Lets a dead job, or one that waits for its next attempt, be tried at once; false if it is neither.
  ///
  /// Announce the job after the commit.
  package func retry(job: PublicID, _ session: Session) throws(PostgresError) -> Bool {
    guard try JobQueue.retryNow(job, session) else { return false }
    for statement in ["reopen", "reopen_image"] {
      try session.execute(Self.statements[statement], .text(job.description))
    }
    return true
  }

  /// The posts and images of jobs that were taken from a lost worker have failed, if the jobs are over.
  package func fail(_ reaped: [Reaped], _ session: Session) throws(PostgresError) {
    for job in reaped where job.state.isFinal { try fail(job: job.publicID, session) }
  }
}
