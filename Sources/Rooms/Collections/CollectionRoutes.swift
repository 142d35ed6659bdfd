internal import Crypto
import FoundationEssentials
internal import HTTPServer
internal import Kit
internal import Model
internal import Postgres
internal import Store
internal import Telemetry

/// The routes of collections.
struct CollectionRoutes: RouteRoom {
  let kit: Kit
  let images: ImageRoutes

  var routes: [Route] {
    let limit = JSONBody.limit
    return [
      route("POST", "/v1/collections", access: .key([.submit]), bodyLimit: limit, handler: createCollection),
      route("GET", "/v1/collections", access: .key([.read]), readsQuery: true, handler: listCollections),
      route(
        "GET", "/v1/users/{id}/collections", access: .key([.read]), readsQuery: true, handler: listCollectionsOfAuthor),
      route("GET", "/v1/collections/{id}", access: .keyOrLink([.read]), readsQuery: true, handler: readCollection),
      route(
        "PATCH", "/v1/collections/{id}", access: .key([.change, .read]), bodyLimit: limit, handler: changeCollection),
      route("DELETE", "/v1/collections/{id}", access: .key([.delete]), handler: deleteCollection),
      images.submissions.upload("PUT", "/v1/collections/{id}/thumbnail", bodyLimit: images.imageLimit) {
        try await editable($0)
        return try await images.receive($0, .itinerary)
      },
      route("DELETE", "/v1/collections/{id}/thumbnail", access: .key([.delete])) {
        try await editable($0)
        return try await images.deleteAll($0, .itinerary)
      },
    ]
  }

  /// Returns the hash of the secret in the parameter `link`; nil without one.
  static func link(_ reader: inout QueryReader) -> [UInt8]? {
    reader.text("link").map { SHA256.digest(of: Array($0.utf8)).bytes }
  }

  private func createCollection(_ request: Request) async throws -> Response {
    let (body, fields) = try await JSONBody.content(of: request)
    let draft = try CollectionDraft(fields, kinds: definitions.collections, user: request.caller.user)
    _ = try request.caller.author(draft.author)
    try access.countSubmission(of: draft.author, request)
    let (viewer, urls) = (request.caller.viewer, access.mediaURLs(for: request))
    let stored = try await refusingItems(draft.kind) {
      try await storeOnce(request, nil, payload: [Array(draft.author.utf8), body]) { session in
        let id = try Collections.create(draft.kind, draft.content, by: draft.author, for: viewer, session)
        guard let created = try Collections.find(id, for: viewer, session)?.collection else {
          throw Self.notFound(.collection, id)
        }
        return try StoredSubmission(
          created: created, CollectionResponse(created, urls), at: CollectionResponse.path(id))
      }
    }
    return stored.response
  }

  /// The roles of the parameter `role`: what a user can be to the collections in a list.
  private enum ListedRole: String, CaseIterable { case author, editor, viewer }

  private func listCollections(_ request: Request) async throws -> Response {
    var reader = QueryReader(request.target)
    let named = reader.text("user", isRequired: request.caller.user == nil)
    let roles = reader.choices("role", of: ListedRole.self)
    let states = reader.choices("state", of: Membership.State.self)
    let kind = reader.text("kind")
    // The fields are those of the kind.
    let defined = kind.flatMap { definitions.collections[$0]?.fields } ?? [:]
    let fields = try FieldFilter(reader.fieldConditions(defined))
    let page = reader.page()
    let inclusion = try inclusion(of: StoredCollection.self, &reader, request)
    try reader.finish()
    let user = named ?? request.caller.user ?? ""
    guard request.caller.viewer.owns(user) else {
      throw Caller.notYours("The collections belong to another user than the one that the request acts as.")
    }
    let urls = access.mediaURLs(for: request)
    let listed = Set(
      (roles.isEmpty ? Set(ListedRole.allCases) : roles).compactMap { StoredCollection.Role(rawValue: $0.rawValue) })
    let (collections, included) = try await queryList { session in
      let collections = try Collections.list(
        of: user, as: listed, states.isEmpty ? [.accepted] : states, kind: kind, fields: fields, page, session)
      return (collections, try inclusion.read(collections.items, session))
    }
    return try .uncached(PageResponse(collections) { CollectionResponse($0, urls) }, including: included)
  }

  private func listCollectionsOfAuthor(_ request: Request) async throws -> Response {
    let author = try name(request)
    var reader = QueryReader(request.target)
    let kind = reader.text("kind")
    let page = reader.page()
    let inclusion = try inclusion(of: StoredCollection.self, &reader, request)
    try reader.finish()
    let (viewer, urls) = (request.caller.viewer, access.mediaURLs(for: request))
    let found = try await queryList { session in
      try People.find(author, for: viewer, session).map { _ in
        let collections = try Collections.list(ofAuthor: author, kind: kind, for: viewer, page, session)
        return (collections, try inclusion.read(collections.items, session))
      }
    }
    guard let (collections, included) = found else { throw Self.notFound(.user, author) }
    return try .uncached(PageResponse(collections) { CollectionResponse($0, urls) }, including: included)
  }

  private func readCollection(_ request: Request) async throws -> Response {
    var query = QueryReader(request.target)
    let link = Self.link(&query)
    let inclusion = try inclusion(of: StoredCollection.self, &query, request)
    try query.finish()
    let (viewer, id) = (request.caller.viewer, try id(.collection, request))
    let reader = request.method == "HEAD" ? nil : viewer.user
    let read = try await database.read { session in
      try Collections.find(id, for: viewer, link: link, reader: reader, session)
        .map { ($0, try inclusion.read([$0.collection], session)) }
    }
    guard let (found, included) = read else {
      // The link was the only credential.
      if case .stranger = request.caller.credential {
        throw AccessControl.unauthorized("The link does not open the collection \(id).")
      }
      throw Self.notFound(.collection, id)
    }
    if let reader, found.isNewView {
      // The collection can be read where nothing can be written.
      do {
        try await database.transaction { try Collections.recordView(of: id, by: reader, link: link, $0) }
      } catch {
        log.warning("the view of a collection was not recorded", ["collection": "\(id)", "error": "\(error)"])
      }
    }
    return try respond(to: request, with: found.collection, including: included)
  }

  private func changeCollection(_ request: Request) async throws -> Response {
    let id = try id(.collection, request)
    let fields = try await JSONBody.fields(of: request)
    guard request.headers["If-Match"] != nil else {
      throw ProblemKind.versionRequired.problem("The request has no header field If-Match.")
    }
    let (viewer, kinds) = (request.caller.viewer, definitions.collections)
    guard let kind = try await database.read({ try Collections.find(id, for: viewer, $0)?.collection.kind }) else {
      throw Self.notFound(.collection, id)
    }
    guard let definition = kinds[kind] else {
      throw ProblemKind.invalid([FieldError("kind", "is '\(kind)', which this service does not define any more")])
    }
    let change = try CollectionChange(fields, definition)
    try access.countSubmission(of: viewer.user ?? "", request)
    let changed = try await refusingItems(definition) {
      try await database.transaction { session in
        let isChanged = try Collections.change(id, for: viewer, items: change.items, session) { collection in
          try request.checkVersion(of: collection)
          let (content, keys) = try change.applied(to: collection.content)
          return (content, keys, definition.items.max)
        }
        return isChanged ? try Collections.find(id, for: viewer, session)?.collection : nil
      }
    }
    guard let changed else { throw Self.notFound(.collection, id) }
    return try respond(to: request, with: changed)
  }

  private func deleteCollection(_ request: Request) async throws -> Response {
    let id = try id(.collection, request)
    return try await delete(request, releasing: true, else: Self.notFound(.collection, id)) {
      try Collections.delete(id, for: $0, $1, check: request.checkVersion)
    }
  }

  private func respond(
    to request: Request, with collection: StoredCollection, including included: Included? = nil
  ) throws -> Response {
    try .versioned(CollectionResponse(collection, access.mediaURLs(for: request)), collection, including: included)
  }

  /// Throws a problem unless the client may edit the collection in the path.
  private func editable(_ request: Request) async throws {
    let id = try id(.collection, request)
    let found = try await find(request, else: Self.notFound(.collection, id)) { try Collections.find(id, for: $0, $1) }
    guard found.collection.role.mayEdit else { throw Caller.notYours("The collection is only shared for viewing.") }
  }

  private func refusingItems<Value>(
    _ kind: CollectionDefinition, _ body: () async throws -> Value
  ) async throws -> Value {
    do { return try await body() } catch let refusal as ItemRefusal {
      switch refusal {
      case .unknownPosts(let posts):
        throw ProblemKind.invalid(posts.map { FieldError("items", "the post \($0) does not exist") })
      case .nothingHidden:
        throw ProblemKind.invalid([
          FieldError("items", "more of them are hidden than the collection hides; read it again")
        ])
      case .tooMany(let limit):
        throw ProblemKind.invalid([FieldError("items", "expected a list of up to \(CountText.text(limit, "item"))")])
      }
    }
  }
}
