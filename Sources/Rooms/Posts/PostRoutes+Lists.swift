import FoundationEssentials
internal import HTTPServer
internal import Kit
internal import Model
internal import Postgres
internal import Store

/// The routes of lists: posts by author, kind, place, time and area, and the calendar of an author.
extension PostRoutes {
  var listRoutes: [Route] {
    [
      route("GET", "/v1/posts", access: .key([.read]), readsQuery: true, handler: listPosts),
      route(
        "POST", "/v1/posts/search", access: .key([.read]), bodyLimit: JSONBody.limit, isSafe: true,
        handler: searchPosts),
      route("GET", "/v1/users/{id}/calendar", access: .key([.read]), readsQuery: true, handler: readCalendar),
      route("GET", "/v1/users/{id}/feed", access: .key([.read]), readsQuery: true, handler: readFeed),
    ]
  }

  private func listPosts(_ request: Request) async throws -> Response {
    var reader = QueryReader(request.target)
    let filter = try PostFilter(&reader, for: request.caller.viewer, fields: definitions.fields.posts)
    let page = reader.page(limit: filter.ids.isEmpty ? nil : filter.ids.count)
    let inclusion = try inclusion(of: Post.self, &reader, request)
    try reader.finish()
    return try await respond(to: request, filter, page, inclusion)
  }

  /// Lists the posts of a user and of the user's friends that the user sees, for the user or for a back-end.
  private func readFeed(_ request: Request) async throws -> Response {
    let viewer = Viewer(user: try owner(of: "The feed is that", request))
    var reader = QueryReader(request.target)
    let filter = try PostFilter(&reader, for: viewer, .feed, fields: definitions.fields.posts)
    let page = reader.page()
    let inclusion = try inclusion(of: Post.self, &reader, request, for: viewer)
    try reader.finish()
    return try await respond(to: request, filter, page, inclusion)
  }

  private func searchPosts(_ request: Request) async throws -> Response {
    var fields = try await JSONBody.fields(of: request)
    let inclusion = try inclusion(taking: &fields, request)
    let search = try PostSearch(fields: fields, for: request.caller.viewer, defined: definitions.fields.posts)
    return try await respond(to: request, search.filter, search.page, inclusion)
  }

  /// - Parameter inclusion: what the client wants with the posts, and who sees them.
  private func respond(
    to request: Request, _ filter: PostFilter, _ page: PageRequest, _ inclusion: Inclusion
  ) async throws -> Response {
    let (viewer, urls) = (inclusion.viewer, inclusion.urls)
    let (posts, included) = try await queryList(isWide: filter.isWide) { session in
      let posts = try Posts.list(filter, for: viewer, page, session)
      return (posts, try inclusion.read(posts.items, session))
    }
    return try .uncached(PageResponse(posts) { PostResponse($0, urls, for: viewer) }, including: included)
  }

  private func readCalendar(_ request: Request) async throws -> Response {
    var reader = QueryReader(request.target)
    let month = reader.value("month", "a month such as 2026-11", Self.month)
    let zone = reader.text("zone") ?? "UTC"
    let visibilities = reader.choices("visibility", of: Visibility.self)
    let inclusion = try inclusion(of: CalendarDay.self, &reader, request)
    try reader.finish()
    let (viewer, urls) = (request.caller.viewer, access.mediaURLs(for: request))
    let author = try name(request)
    let found = try await queryList { [zones] session in
      try Posts.calendar(
        of: author, for: viewer, month: "\(month ?? "")-01", zone: zone, visibilities: visibilities,
        zones: zones, session
      ).map { ($0, try inclusion.read($0, session)) }
    }
    guard let (days, included) = found else {
      throw ProblemKind.invalidQuery.problem(
        "The time zone '\(zone)' is unknown.",
        errors: [FieldError("zone", "expected a name from the IANA time zone database, such as Europe/Berlin")])
    }
    return try .uncached(
      CalendarResponse(month: month ?? "", zone: zone, days: days, urls: urls), including: included)
  }

  /// Returns the text if it is a month of the years 1970 to 9998, otherwise nil.
  private static func month(_ text: String) -> String? {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 2, parts[0].utf8.count == 4, parts[1].utf8.count == 2,
      text.utf8.allSatisfy({ 0x30...0x39 ~= $0 || $0 == 0x2D }), let year = Int(parts[0]), let month = Int(parts[1]),
      1970...9998 ~= year, 1...12 ~= month
    else { return nil }
    return text
  }
}

/// The JSON of one month of an author's calendar.
struct CalendarResponse: Encodable {
  struct Day: NilEncodable {
    let date: String
    let posts: Int
    /// The latest post of the day.
    let post: PublicID
    let image: AssetResponse?
  }

  let month: String
  let zone: String
  let days: [Day]

  init(month: String, zone: String, days: [CalendarDay], urls: MediaURLs) {
    self.month = month
    self.zone = zone
    self.days = days.map { day in
      Day(
        date: day.date, posts: day.posts, post: day.post,
        image: day.image.map { AssetResponse($0, urls, isPublic: day.isPublic) })
    }
  }
}
