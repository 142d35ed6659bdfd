internal import HTTPServer
internal import Model
internal import Postgres
internal import Queue
internal import Store

/// The daily window.
extension ControlAPI {
  var windowRoutes: [Route] { [route("GET", "/v1/window", needs: [.read], handler: readWindow)] }

  private func readWindow(_ request: Request) async throws -> Response {
    var reader = QueryReader(request.target)
    try reader.finish()
    let store = store
    return try await database.read { session in
      let next = try JobQueue.nextFiring(ofKind: TaskKind.window.rawValue, session)
      return try .fresh(WindowAnswer(try store.window(session), nextAt: next))
    }
  }
}
