import FoundationEssentials
internal import HTTPServer
internal import Model
internal import Postgres
internal import Store

/// The routes of the daily window, and of its schedule, which operators read and change.
struct WindowRoutes: RouteRoom {
  let kit: Kit
  /// The schedule of this process while no operator has set one; nil: none.
  let option: WindowSchedule?

  var routes: [Route] {
    [
      route("GET", "/v1/window", access: .key([.read]), handler: readWindow),
      route("GET", "/v1/window/schedule", access: .key([.admin]), handler: readSchedule),
      route("PUT", "/v1/window/schedule", access: .key([.admin]), bodyLimit: JSONBody.limit, handler: setSchedule),
      route("DELETE", "/v1/window/schedule", access: .key([.admin]), handler: clearSchedule),
      route("GET", "/v1/window/preview", access: .key([.admin]), readsQuery: true, handler: preview),
    ]
  }

  private func readWindow(_ request: Request) async throws -> Response {
    try .uncached(WindowResponse(try await database.read { try Window.latest($0) }))
  }

  private func readSchedule(_ request: Request) async throws -> Response {
    try .uncached(try await database.read { [option] in try WindowScheduleResponse($0, option) })
  }

  private func setSchedule(_ request: Request) async throws -> Response {
    var reader = FieldReader(try await JSONBody.fields(of: request), path: "")
    let text = reader.required("schedule", limit: MaxLength.name)
    try reader.check()
    let response = try await database.transaction { [option] session in
      try request.checkVersion(of: nil)
      try Window.set(try Self.schedule(text, session), session)
      return try WindowScheduleResponse(session, option)
    }
    return try .uncached(response)
  }

  private func clearSchedule(_ request: Request) async throws -> Response {
    try await database.transaction { session in
      // A schedule has no version.
      try request.checkVersion(of: nil)
      try Window.clear(session)
    }
    return Response(.noContent)
  }

  private func preview(_ request: Request) async throws -> Response {
    var reader = QueryReader(request.target)
    let text = reader.text("schedule")
    try reader.finish()
    let hours = try await database.read { [option] session -> [WindowHours] in
      guard let text = try text ?? WindowScheduleResponse(session, option).schedule else { return [] }
      return try Window.preview(try Self.schedule(text, session), session)
    }
    return try .uncached(["items": hours])
  }

  private static func schedule(_ text: String, _ session: Session) throws -> WindowSchedule {
    do { return try Window.schedule(text, session) } catch let error as InvalidSchedule {
      throw ProblemKind.invalid([FieldError("schedule", error.reason)])
    }
  }
}

/// The JSON of the daily window; unknown values are null.
struct WindowResponse: NilEncodable {
  let open: Bool
  let openedAt: Date?
  let closesAt: Date?
  /// Always nil: the next time is a secret until it has come.
  let nextAt: Date?

  init(_ window: DailyWindow?) {
    open = window?.isOpen ?? false
    openedAt = window?.openedAt
    closesAt = window?.closesAt
    nextAt = nil
  }
}

/// The JSON of the schedule in use; null: there is none.
struct WindowScheduleResponse: NilEncodable {
  let schedule: String?
  let source: WindowScheduleSource?

  /// - Parameter option: that of this process.
  init(_ session: Session, _ option: WindowSchedule?) throws(PostgresError) {
    let stored = try Window.scheduled(session)
    if let stored, stored.isOperators || (option == nil && stored.isInUse) {
      (schedule, source) = (stored.schedule, stored.source)
    } else {
      (schedule, source) = (option?.description, option.map { _ in .option })
    }
  }
}
