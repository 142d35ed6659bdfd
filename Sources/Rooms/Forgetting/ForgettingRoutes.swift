internal import HTTPServer
internal import Model
internal import Postgres
internal import Queue
internal import Store

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
        user, request: request.jobRequest, session, revoking: { try Tokens.revokeAll(of: user, $0) },
        check: { try request.checkVersion(of: People.find(user, for: .unrestricted, session)) })
      try JobQueue.notify(queue: JobKinds.taskQueue, session)
      return (try JobQueue.find(id, session), tokens)
    }
    access.tokens.forget(Set(tokens))
    guard let job else { throw ProblemKind.jobNotFound.problem("The job of the deletion does not exist.") }
    return try .uncached(JobResponse(job), .accepted, at: JobSummaryResponse.path(job.publicID))
  }
}
