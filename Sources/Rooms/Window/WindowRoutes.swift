import FoundationEssentials
internal import HTTPServer
internal import Model
internal import Postgres
internal import Store

/// The route of the daily window.
struct WindowRoutes: RouteRoom {
  let kit: Kit
  let schedule: WindowSchedule?

  var routes: [Route] { [route("GET", "/v1/window", access: .key([.read]), handler: readWindow)] }

  private func readWindow(_ request: Request) async throws -> Response {
    try await database.read { [schedule] session in
      try .uncached(WindowResponse(try Window.latest(session), nextAt: try Window.nextOpening(by: schedule, session)))
    }
  }
}

/// The JSON of the daily window; unknown values are null.
struct WindowResponse: NilEncodable {
  let open: Bool
  let openedAt: Date?
  let closesAt: Date?
  let nextAt: Date?

  init(_ window: DailyWindow?, nextAt: Date?) {
    open = window?.isOpen ?? false
    openedAt = window?.openedAt
    closesAt = window?.closesAt
    self.nextAt = nextAt
  }
}
