import FoundationEssentials
internal import HTTPServer
internal import Kit
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
    let schedule = try await database.read { [option] in WindowScheduleResponse(try Window.scheduled($0), option) }
    return try .versioned(schedule, schedule)
  }

  private func setSchedule(_ request: Request) async throws -> Response {
    var reader = FieldReader(try await JSONBody.fields(of: request), path: "")
    let text = reader.required("schedule", limit: MaxLength.name)
    try reader.check()
    let schedule = try await change(request) { try Self.schedule(text, $0) }
    return try .versioned(schedule, schedule)
  }

  private func clearSchedule(_ request: Request) async throws -> Response {
    _ = try await change(request) { _ in nil }
    return Response(.noContent)
  }

  private func change(
    _ request: Request, to schedule: @escaping @Sendable (Session) throws -> WindowSchedule?
  ) async throws -> WindowScheduleResponse {
    try await database.transaction { [option] session in
      try Window.set(try schedule(session), session) { stored in
        try request.checkVersion(of: WindowScheduleResponse(stored, option))
      }
      return WindowScheduleResponse(try Window.scheduled(session), option)
    }
  }

  private func preview(_ request: Request) async throws -> Response {
    var reader = QueryReader(request.target)
    let text = reader.text("schedule")
    try reader.finish()
    let hours = try await database.read { [option] session -> [WindowHours] in
      guard let text = try text ?? WindowScheduleResponse(Window.scheduled(session), option).schedule else { return [] }
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
struct WindowScheduleResponse: NilEncodable, Versioned {
  let schedule: String?
  let source: WindowScheduleSource?

  /// - Parameter option: that of this process.
  init(_ stored: Window.Scheduled?, _ option: WindowSchedule?) {
    if let stored, stored.isOperators || (option == nil && stored.isInUse) {
      (schedule, source) = (stored.schedule, stored.source)
    } else {
      (schedule, source) = (option?.description, option.map { _ in .option })
    }
  }
  var version: some Encodable { ["schedule": schedule, "source": source?.rawValue] }
}
