package import Model
package import Postgres
package import Queue

/// The request of the deletion of a user.
extension Forgetting {
  /// Starts the deletion of a user, in the caller's transaction: nothing more is stored for the user, the tokens are
  /// revoked, and a job deletes the rest. Does nothing if the deletion was started before.
  ///
  /// The caller notifies the workers (`JobQueue.notify`) of `JobKinds.taskQueue`.
  ///
  /// - Parameters:
  ///   - request: the request, for the log and the traces of the worker.
  ///   - revoke: revokes the tokens of the user, and returns their ids.
  ///   - check: throws if the user is not to be deleted; the caller must roll back then.
  /// - Returns: the job, and the revoked tokens.
  package static func begin(
    _ user: String, request: JobRequest?, _ session: Session, revoking revoke: (Session) throws -> [PublicID],
    check: () throws -> Void
  ) throws -> (job: PublicID, tokens: [PublicID]) {
    // Before the lock of the user: a submission uses its grant, which locks its token, and then waits for the user.
    let tokens = try revoke(session)
    try session.execute(Self.statements["lock_user"], .text(user))
    try check()
    let job = PublicID.now()
    while try session.execute(Self.statements["insert_forgetting"], .text(job.description), .text(user)).isEmpty {
      // The deletion that is running may end in between; this is another one then.
      guard let row = try session.execute(Self.statements["job_of_forgetting"], .text(user)).first else { continue }
      return (try row.publicID("job"), tokens)
    }
    // A token may have been minted before the lock.
    let later = try revoke(session)
    try JobQueue.enqueue(
      NewJob(
        publicID: job, queue: JobKinds.taskQueue, kind: ForgetJob.kind, maxAttempts: ForgetJob.attempts,
        deadlineSeconds: ForgetJob.deadlineSeconds, request: request, arguments: Array("{}".utf8)), session)
    return (job, tokens + later)
  }
}
