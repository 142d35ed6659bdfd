internal import Blobs
internal import HTTPServer
internal import Postgres
internal import Store

extension ControlAPI {
  var healthRoutes: [Route] {
    [
      Route("GET", "/livez") { [isLive] _ in
        guard isLive() else {
          throw ProblemKind.databaseUnavailable.problem(
            "The database of this service does not come back; starting the service anew may help.",
            headers: ["Retry-After": "5"])
        }
        return Self.healthy("live")
      },
      route("GET", "/readyz", needs: [], handler: readiness),
    ]
  }

  /// Whether submissions can be taken in, those with media too; that needs no worker.
  private func readiness(_ request: Request) async throws -> Response {
    let store = store
    try await database.run { try store.check($0) }
    try blobs.check()
    try room.check()
    return Self.healthy("ready")
  }

  private static func healthy(_ status: String) -> Response {
    .json(.ok, Array(#"{"status":"\#(status)"}"#.utf8), headers: ["Cache-Control": "no-store"])
  }
}
