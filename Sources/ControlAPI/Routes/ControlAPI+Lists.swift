internal import HTTPServer
internal import Model
internal import Postgres
internal import Store

/// Lists of posts: by author, kind, place, time and part of the map, and as a calendar.
extension ControlAPI {
  var listRoutes: [Route] {
    [
      route("GET", "/v1/posts", needs: [.read], handler: listPosts),
      route(
        "POST", "/v1/posts/search", needs: [.read], bodyLimit: Int64(JSONBody.most), isSafe: true, handler: searchPosts),
      route("GET", "/v1/users/{id}/calendar", needs: [.read], handler: readCalendar),
    ]
  }

  private func listPosts(_ request: Request) async throws -> Response {
    var reader = QueryReader(request.target)
    var filter = PostFilter()
    filter.authors = reader.texts("author")
    filter.kind = reader.choice("kind", of: PostKind.self)
    filter.place = reader.text("place")
    filter.from = reader.time("from")
    filter.to = reader.time("to")
    filter.area = reader.box("box")
    let visibilities = reader.choices("visibility", of: Visibility.self)
    filter.visibilities = visibilities.isEmpty ? [.public] : visibilities
    let statuses = reader.choices("status", of: PostStatus.self)
    if !statuses.isEmpty { filter.statuses = statuses }
    let page = reader.page()
    try reader.finish()
    return try await answer(request, filter, page)
  }

  private func searchPosts(_ request: Request) async throws -> Response {
    var query = QueryReader(request.target)
    try query.finish()
    let search = try PostSearch(fields: try await JSONBody.fields(of: request))
    return try await answer(request, search.filter, search.page)
  }

  private func answer(_ request: Request, _ filter: PostFilter, _ page: PageRequest) async throws -> Response {
    let (store, urls) = (store, access.mediaURLs(for: request))
    let posts = try await list { try store.posts(filter, page, $0) }
    return try .fresh(PageAnswer(posts) { PostAnswer($0, urls) })
  }

  /// Reads a list that may have much to look through: on connections of their own such lists hold up nothing else.
  func list<Items: Sendable>(_ body: @Sendable (Session) throws -> Items) async throws -> Items {
    do {
      return try await lists.read(body)
    } catch let error as PostgresError where error.isCanceled {
      throw ProblemKind.queryTooSlow.problem("The list takes longer than the service works on one.")
    }
  }

  private func readCalendar(_ request: Request) async throws -> Response {
    var reader = QueryReader(request.target)
    let month = reader.value("month", "a month such as 2026-11", Self.month)
    let zone = reader.text("zone") ?? "UTC"
    let visibilities = reader.choices("visibility", of: Visibility.self)
    try reader.finish()
    let (store, urls, author) = (store, access.mediaURLs(for: request), try name(request))
    let days = try await database.read { session in
      try store.calendar(
        of: author, month: "\(month ?? "")-01", zone: zone, visibilities: visibilities, session)
    }
    guard let days else {
      throw ProblemKind.invalidQuery.problem(
        "There is no time zone \(zone).",
        errors: [FieldError("zone", "expected a name of the IANA database, such as Europe/Berlin")])
    }
    return try .fresh(CalendarAnswer(month: month ?? "", zone: zone, days: days, urls: urls))
  }

  /// A month from the year 1970 to 9998 as it is written; nil otherwise.
  private static func month(_ text: String) -> String? {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 2, parts[0].utf8.count == 4, parts[1].utf8.count == 2,
      text.utf8.allSatisfy({ 0x30...0x39 ~= $0 || $0 == 0x2D }), let year = Int(parts[0]), let month = Int(parts[1]),
      1970...9998 ~= year, 1...12 ~= month
    else { return nil }
    return text
  }
}
