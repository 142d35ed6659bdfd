internal import HTTPServer
internal import Kit
package import Model
package import Postgres
package import Queue
package import Store

/// The route that deletes a user.
struct ForgettingRoutes: RouteRoom {
  let kit: Kit

  var routes: [Route] {
    [route("DELETE", "/v1/users/{id}", access: .key([.delete]), handler: forgetUser)]
  }

  /// Starts the deletion of a user with everything that mentions the user, or returns the job of one that was started.
  private func forgetUser(_ request: Request) async throws -> Response {
    let user = try name(request)
    guard request.caller.viewer.owns(user) else { throw Caller.notYours("The request acts as another user.") }
    let (job, tokens) = try await database.transaction { session in
      let (id, tokens) = try Forgetting.start(
        user, request: request.jobRequest, session, check: request.checkVersion)
      try JobQueue.notify(queue: JobKinds.taskQueue, session)
      guard let job = try JobQueue.find(id, session) else {
        throw ProblemKind.jobNotFound.problem("The job of the deletion does not exist.")
      }
      return (job, tokens)
    }
    access.tokens.forget(Set(tokens))
    return try .uncached(
      JobResponse(job, prefix: access.urlPrefix), .accepted, at: JobSummaryResponse.path(job.publicID))
  }
}

extension Forgetting {
  /// Starts the deletion of a user, as `begin`.
  ///
  /// - Parameter check: receives the user, if one is stored; the caller must roll back if it throws.
  /// - Returns: the job, and the revoked tokens.
  package static func start(
    _ user: String, request: JobRequest?, _ session: Session, check: (AppUser?) throws -> Void
  ) throws -> (job: PublicID, tokens: [PublicID]) {
    try begin(user, request: request, session, revoking: { try Tokens.revokeAll(of: user, in: .all, $0) }) {
      try check(People.find(user, for: .unrestricted, session))
    }
  }
}
