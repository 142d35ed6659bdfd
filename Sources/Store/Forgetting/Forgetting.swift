package import Model
package import Postgres
package import Queue

/// The error for something that would be stored for a user who is being deleted.
package struct ForgottenRefusal: Error, Sendable, Hashable {
  package let user: String
}

/// The deletion of users: its request.
package enum Forgetting: Room {
  package static let statements = Statements(topic: "forgetting", PackageResources.Forgetting_sql)

  package static var maintenance: [MaintenanceTask] {
    [
      MaintenanceTask("forgotten", every: .seconds(3600)) { pool in
        try await pool.run { session in try dropOld(session) }
      }
    ]
  }

  /// Starts the deletion of a user, in the caller's transaction: nothing more is stored for the user, the tokens are
  /// revoked, and a job deletes the rest. Does nothing if the deletion was started before.
  ///
  /// The caller notifies the workers (`JobQueue.notify`) of `JobKinds.taskQueue`.
  ///
  /// - Parameters:
  ///   - request: the request, for the log and the traces of the worker.
  ///   - check: receives the user, if one is stored; the caller must roll back if it throws.
  /// - Returns: the job, and the revoked tokens.
  package static func start(
    _ user: String, request: JobRequest?, _ session: Session, check: (AppUser?) throws -> Void
  ) throws -> (job: PublicID, tokens: [PublicID]) {
    // Before the lock of the user: a submission uses its grant, which locks its token, and then waits for the user.
    let tokens = try Tokens.revokeAll(of: user, session)
    try session.execute(Self.statements["lock_user"], .text(user))
    try check(People.find(user, for: .unrestricted, session))
    let job = PublicID.now()
    while try session.execute(Self.statements["insert_forgetting"], .text(job.description), .text(user)).isEmpty {
      // The deletion that is running may end in between; this is another one then.
      guard let row = try session.execute(Self.statements["job_of_forgetting"], .text(user)).first else { continue }
      return (try row.publicID("job"), tokens)
    }
    // A token may have been minted before the lock.
    let later = try Tokens.revokeAll(of: user, session)
    try JobQueue.enqueue(
      NewJob(
        publicID: job, queue: JobKinds.taskQueue, kind: ForgetJob.kind, maxAttempts: ForgetJob.attempts,
        deadlineSeconds: ForgetJob.deadlineSeconds, request: request, arguments: Array("{}".utf8)), session)
    return (job, tokens + later)
  }
}
