import FoundationEssentials
internal import HTTPServer
internal import Model
internal import Postgres
internal import Queue
internal import Store

/// The routes of places, of who posts there, and of the activity on a map.
extension ControlAPI {
  var placeRoutes: [Route] {
    [
      route("GET", "/v1/places", access: .key([.read]), readsQuery: true, handler: listPlaces),
      route("GET", "/v1/places/{id}", access: .key([.read]), handler: readPlace),
      route(
        "PUT", "/v1/places/{id}", access: .key([.change, .read]), bodyLimit: Int64(JSONBody.maxBytes),
        handler: describePlace),
      route("GET", "/v1/places/{id}/users", access: .key([.read]), readsQuery: true, handler: listPlaceUsers),
      route("GET", "/v1/map", access: .key([.read]), readsQuery: true, handler: readMap),
    ]
  }

  static func placeNotFound(_ id: String) -> Problem {
    ProblemKind.placeNotFound.problem("The place '\(id)' does not exist.")
  }

  private func listPlaces(_ request: Request) async throws -> Response {
    var reader = QueryReader(request.target)
    let ids = reader.texts("id")
    var filter = PlaceFilter()
    var page = PageRequest()
    if ids.isEmpty {
      filter.area = reader.box("box")
      filter.near = reader.near("near", radius: "radius")
      filter.category = reader.text("category")
      filter.order = reader.order("sort", near: filter.near, distance: PlaceOrder.distance) ?? .posts
      page = reader.page()
    }
    try reader.finish()
    let (store, viewer, urls) = (store, request.caller.viewer, access.mediaURLs(for: request))
    let places = try await queryList(isWide: filter.isWide) { [filter, page] session in
      ids.isEmpty
        ? try store.places(filter, for: viewer, page, session)
        : Page(items: try store.places(ids, for: viewer, session), next: nil)
    }
    return try .uncached(PageResponse(places) { StoredPlaceResponse($0, urls) })
  }

  private func readPlace(_ request: Request) async throws -> Response {
    let (store, viewer, id) = (store, request.caller.viewer, try name(request))
    guard let place = try await database.read({ try store.place(id, for: viewer, $0) }) else {
      throw Self.placeNotFound(id)
    }
    return try .versioned(StoredPlaceResponse(place, access.mediaURLs(for: request)), place)
  }

  private func describePlace(_ request: Request) async throws -> Response {
    let id = try name(request)
    let description = try PlaceDescription(fields: try await JSONBody.fields(of: request))
    let (store, viewer) = (store, request.caller.viewer)
    try access.countSubmission(of: viewer.user ?? "", request)
    let place = try await database.transaction { session in
      let isDescribed = try store.describe(id, description, for: viewer, session) { place in
        guard place != nil || request.headers["If-Match"] == nil else {
          throw ProblemKind.outdatedVersion.problem("The place does not exist, so that If-Match names no version.")
        }
        try request.checkVersion(of: place)
      }
      return isDescribed ? try store.place(id, for: viewer, session) : nil
    }
    guard let place else { throw Self.placeNotFound(id) }
    return try .versioned(StoredPlaceResponse(place, access.mediaURLs(for: request)), place)
  }

  private func listPlaceUsers(_ request: Request) async throws -> Response {
    var reader = QueryReader(request.target)
    let limit = reader.number("limit", in: PageRequest.limits) ?? PageRequest().limit
    let after = reader.text("cursor")
    try reader.finish()
    let (store, viewer, id) = (store, request.caller.viewer, try name(request))
    let users = try await database.read { try store.users(ofPlace: id, after: after, limit: limit, for: viewer, $0) }
    guard let users else { throw Self.placeNotFound(id) }
    return try .uncached(
      PageResponse(items: users.items, next: users.hasMore ? users.items.last?.user : nil))
  }

  private func readMap(_ request: Request) async throws -> Response {
    var reader = QueryReader(request.target)
    let area = reader.box("box") ?? MapArea(west: -180, south: -90, east: 180, north: 90)
    let (from, to) = (
      reader.time("from").map(Date.init(microseconds:)), reader.time("to").map(Date.init(microseconds:))
    )
    try reader.finish()
    guard let area else { throw ProblemKind.invalidQuery.problem("The box is invalid.") }
    let map = ActivityMap(area, from: from, to: to, now: Date())
    let store = store
    let cells = try await queryList { try store.activity(map, $0) }
    return try .uncached(ActivityMapResponse(map, cells))
  }
}

/// The routes of what users note about places.
extension ControlAPI {
  var noteRoutes: [Route] {
    [
      route("GET", "/v1/users/{id}/notes", access: .key([.read]), readsQuery: true, handler: listNotes),
      route("GET", "/v1/users/{id}/notes/{place}", access: .key([.read]), handler: readNote),
      route(
        "PUT", "/v1/users/{id}/notes/{place}", access: .key([.submit]), bodyLimit: Int64(JSONBody.maxBytes),
        handler: saveNote),
      route("DELETE", "/v1/users/{id}/notes/{place}", access: .key([.delete]), handler: deleteNote),
    ]
  }

  /// Returns the user in the path; throws a problem unless the client is the user or acts as no user.
  private func noting(_ request: Request) throws -> String {
    let user = try name(request)
    guard request.caller.viewer.owns(user) else {
      throw Caller.notYours("The notes are those of another user than the one that the request acts as.")
    }
    return user
  }

  private static func noteNotFound(_ place: String) -> Problem {
    ProblemKind.noteNotFound.problem("The user has no note about the place '\(place)'.")
  }

  private func listNotes(_ request: Request) async throws -> Response {
    var reader = QueryReader(request.target)
    let page = reader.page()
    try reader.finish()
    let (store, user) = (store, try noting(request))
    return try .uncached(PageResponse(try await database.read { try store.notes(of: user, page, $0) }) { $0 })
  }

  private func readNote(_ request: Request) async throws -> Response {
    let (store, user, place) = (store, try noting(request), try name(request, "place"))
    guard let note = try await database.read({ try store.note(of: user, about: place, $0) }) else {
      throw Self.noteNotFound(place)
    }
    return try .versioned(note, note)
  }

  private func saveNote(_ request: Request) async throws -> Response {
    let (store, user, place) = (store, try noting(request), try name(request, "place"))
    var reader = FieldReader(try await JSONBody.fields(of: request), path: "")
    let text = reader.text("text", limit: MaxLength.text, isRequired: true, allowsEmpty: false)
    let errors = reader.finish()
    guard errors.isEmpty, let text else { throw ProblemKind.invalid(errors) }
    try access.countSubmission(of: user, request)
    let note = try await database.transaction { session in
      try store.note(text, of: user, about: place, session) { try request.checkVersion(of: $0) }
    }
    guard let note else { throw Self.noteNotFound(place) }
    return try .versioned(note, note)
  }

  private func deleteNote(_ request: Request) async throws -> Response {
    let (store, user, place) = (store, try noting(request), try name(request, "place"))
    let isDeleted = try await database.transaction { session in
      try store.deleteNote(of: user, about: place, session, check: request.checkVersion)
    }
    guard isDeleted else { throw Self.noteNotFound(place) }
    return Response(.noContent)
  }
}

extension PlaceDescription {
  /// Reads the fields of a description; absent fields are empty. Throws a problem that names every invalid field.
  init(fields: [String: JSONValue]) throws(Problem) {
    var reader = FieldReader(fields, path: "")
    let name = reader.text("name", limit: MaxLength.name)
    let coordinate = reader.object("coordinate", PostDraft.coordinate)
    let categories: [String]? = reader.value(
      "categories", "expected up to \(Self.maxCategories) different texts of 1 to \(MaxLength.name) characters",
      Self.categories)
    let rating: Double? = reader.value("rating", "expected a number from 0 to 5") { value in
      if case .number(let number) = value, Self.ratings.contains(number) { number } else { nil }
    }
    let priceLevel = reader.integer("price_level", in: Self.priceLevels)
    let errors = reader.finish()
    guard errors.isEmpty else { throw ProblemKind.invalid(errors) }
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
