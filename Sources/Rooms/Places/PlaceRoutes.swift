import FoundationEssentials
internal import HTTPServer
internal import Kit
internal import Model
internal import Queue
internal import Store

/// The routes of places, of who posts there, and of the activity on a map.
struct PlaceRoutes: RouteRoom {
  let kit: Kit

  var routes: [Route] {
    [
      route("GET", "/v1/places", access: .key([.read]), readsQuery: true, handler: listPlaces),
      route(
        "POST", "/v1/places", access: .key([.submit]), bodyLimit: JSONBody.limit, handler: createPlace),
      route("GET", "/v1/places/{id}", access: .key([.read]), includes: true, handler: readPlace),
      route(
        "PUT", "/v1/places/{id}", access: .key([.change, .read]), bodyLimit: JSONBody.limit,
        handler: describePlace),
      route("GET", "/v1/places/{id}/users", access: .key([.read]), readsQuery: true, handler: listPlaceUsers),
      route("GET", "/v1/map", access: .key([.read]), readsQuery: true, handler: readMap),
    ]
  }

  private func listPlaces(_ request: Request) async throws -> Response {
    var reader = QueryReader(request.target)
    let ids = reader.texts("id")
    var filter = PlaceFilter()
    var page = PageRequest()
    if ids.isEmpty {
      filter.area = reader.box("box")
      filter.near = reader.near()
      filter.category = reader.text("category")
      filter.order = reader.order("sort", near: filter.near, distance: PlaceOrder.distance) ?? .posts
      page = reader.page()
    }
    let inclusion = try inclusion(of: StoredPlace.self, &reader, request)
    try reader.finish()
    let (viewer, urls) = (request.caller.viewer, access.mediaURLs(for: request))
    let (places, included) = try await queryList(isWide: filter.isWide) { [filter, page] session in
      let places =
        ids.isEmpty
        ? try Places.list(filter, for: viewer, page, session)
        : Page(items: try Places.list(ids, for: viewer, session), next: nil)
      return (places, try inclusion.read(places.items, session))
    }
    return try .uncached(PageResponse(places) { StoredPlaceResponse($0, urls) }, including: included)
  }

  private func readPlace(_ request: Request) async throws -> Response {
    let (id, urls) = (try name(request), access.mediaURLs(for: request))
    return try await show(request, { StoredPlaceResponse($0, urls) }, else: Self.notFound(.place, id)) {
      try Places.find(id, for: $0, $1)
    }
  }

  private func createPlace(_ request: Request) async throws -> Response {
    let (body, fields) = try await JSONBody.content(of: request)
    let description = try PlaceDescription(fields: fields)
    guard description.name?.isEmpty == false else { throw ProblemKind.invalid([FieldError("name", "is required")]) }
    let (viewer, urls) = (request.caller.viewer, access.mediaURLs(for: request))
    try access.countSubmission(of: viewer.user ?? "", request)
    return try await storeOnce(request, nil, payload: [Array((viewer.user ?? "").utf8), body]) { session in
      guard let place = try Places.create(description, for: viewer, session) else {
        throw Self.notFound(.place, "")
      }
      return try StoredSubmission(
        created: place, StoredPlaceResponse(place, urls), at: StoredPlaceResponse.path(place.id))
    }.response
  }

  private func describePlace(_ request: Request) async throws -> Response {
    let (id, urls) = (try name(request), access.mediaURLs(for: request))
    let description = try PlaceDescription(fields: try await JSONBody.fields(of: request))
    try access.countSubmission(of: request.caller.viewer.user ?? "", request)
    return try await show(request, { StoredPlaceResponse($0, urls) }, changing: true, else: Self.notFound(.place, id)) {
      viewer, session in
      let isDescribed = try Places.describe(id, description, for: viewer, session) { place in
        try request.checkVersion(of: place, named: "place")
      }
      return isDescribed ? try Places.find(id, for: viewer, session) : nil
    }
  }

  private func listPlaceUsers(_ request: Request) async throws -> Response {
    let id = try name(request)
    return try await list(byUser: \PlaceUser.user, request, else: Self.notFound(.place, id)) {
      try Places.users(of: id, after: $1, limit: $2, for: $0, $3)
    }
  }

  private func readMap(_ request: Request) async throws -> Response {
    var reader = QueryReader(request.target)
    let viewer = request.caller.viewer
    let filter = try PostFilter(&reader, for: viewer, .map, fields: definitions.fields.posts)
    try reader.finish()
    guard let area = filter.areas.read ?? MapArea(west: -180, south: -90, east: 180, north: 90) else {
      throw ProblemKind.invalidQuery.problem("The box is invalid.")
    }
    let map = ActivityMap(
      area, from: filter.from.map(Date.init(microseconds:)), to: filter.to.map(Date.init(microseconds:)), now: Date())
    let cells = try await queryList(isWide: !filter.isOfAll) { session in
      filter.isOfAll ? try Places.activity(map, session) : try Posts.activity(of: filter, on: map, for: viewer, session)
    }
    return try .uncached(ActivityMapResponse(map, cells))
  }
}

/// The routes of what users note about places.
struct NoteRoutes: RouteRoom {
  let kit: Kit

  var routes: [Route] {
    let single = "/v1/users/{id}/notes/{place}"
    return [
      route("GET", "/v1/users/{id}/notes", access: .key([.read]), readsQuery: true) { request in
        let user = try owner(of: "The notes are those", request)
        return try await list(request, { $0 }, else: Self.notFound(.user, user)) { _, page, session in
          try Places.notes(of: user, page, session)
        }
      },
      route("GET", single, access: .key([.read]), includes: true) { request in
        let (user, place) = try noted(request)
        return try await show(request, { $0 }, else: Self.noteNotFound(place)) { _, session in
          try Places.note(of: user, about: place, session)
        }
      },
      route("PUT", single, access: .key([.submit]), bodyLimit: JSONBody.limit, handler: saveNote),
      route("DELETE", single, access: .key([.delete])) { request in
        let (user, place) = try noted(request)
        return try await delete(request, else: Self.noteNotFound(place)) { _, session in
          try Places.deleteNote(of: user, about: place, session, check: request.checkVersion)
        }
      },
    ]
  }

  /// Returns the user and the place in the path; throws a problem unless the client is the user or acts as no user.
  private func noted(_ request: Request) throws(Problem) -> (user: String, place: String) {
    (try owner(of: "The notes are those", request), try name(request, "place"))
  }

  private static func noteNotFound(_ place: String) -> Problem {
    ProblemKind.noteNotFound.problem("The user has no note about the place '\(place)'.")
  }

  private func saveNote(_ request: Request) async throws -> Response {
    let (user, place) = try noted(request)
    var reader = FieldReader(try await JSONBody.fields(of: request), path: "")
    let text = reader.required("text", limit: MaxLength.text)
    try reader.check()
    try access.countSubmission(of: user, request)
    return try await show(request, { $0 }, changing: true, else: Self.noteNotFound(place)) { _, session in
      try Places.saveNote(text, of: user, about: place, session) { try request.checkVersion(of: $0) }
    }
  }
}

extension PlaceDescription {
  /// Reads the fields of a description; absent fields are empty. Throws a problem that names every invalid field.
  init(fields: [String: JSONValue]) throws(Problem) {
    var reader = FieldReader(fields, path: "")
    let name = reader.displayName("name")
    let coordinate = reader.object("coordinate", PostDraft.coordinate)
    let categories: [String]? = reader.value(
      "categories", "expected up to \(Self.maxCategories) different texts of 1 to \(MaxLength.name) characters",
      Self.categories)
    let rating: Double? = reader.value("rating", "expected a number from 0 to 5") { value in
      if case .number(let number) = value, Self.ratings.contains(number) { number } else { nil }
    }
    let priceLevel = reader.integer("price_level", in: Self.priceLevels)
    try reader.check()
    self.init(name: name, coordinate: coordinate, categories: categories ?? [], rating: rating, priceLevel: priceLevel)
  }

  private static func categories(_ value: JSONValue) -> [String]? {
    guard case .array(let values) = value, values.count <= maxCategories else { return nil }
    let texts = values.compactMap { value in if case .string(let text) = value { text } else { nil } }
    guard texts.count == values.count, Set(texts).count == texts.count,
      texts.allSatisfy({ 1...MaxLength.name ~= $0.unicodeScalars.count && !$0.unicodeScalars.contains("\0") })
    else { return nil }
    return texts
  }
}
