import FoundationEssentials
internal import HTTPServer
internal import Model
internal import Postgres
internal import Store

/// The routes of relations, which follow from the kinds of relations.
extension ControlAPI {
  var relationRoutes: [Route] { RelationKind.all.flatMap(routes(of:)) }

  private func routes(of kind: RelationKind) -> [Route] {
    let list = "/v1/users/{id}/\(kind.path)"
    let single = "\(list)/{other}"
    var routes = [
      route("GET", list, access: .key([.read]), readsQuery: true) { try await listRelations($0, kind) },
      route("GET", single, access: .key([.read])) { try await readRelation($0, kind) },
      route("PUT", single, access: .key([.submit])) { try await relate($0, kind) },
      route("DELETE", single, access: .key([.delete])) { try await unrelate($0, kind) },
    ]
    switch kind.target {
    case .user: break
    case .post, .place:
      let template = "/v1/\(kind.target.rawValue)s/{id}/\(kind.path)"
      routes.append(route("GET", template, access: .key([.read]), readsQuery: true) { try await listUsers($0, kind) })
    }
    return routes
  }

  private func relate(_ request: Request, _ kind: RelationKind) async throws -> Response {
    let (user, target) = try ends(request, kind)
    try access.countSubmission(of: user, request)
    let (store, viewer) = (store, request.caller.viewer)
    let relation = try await database.transaction { try store.relate(user, kind, to: target, for: viewer, $0) }
    guard let relation else {
      throw kind.target == .post ? Self.postNotFound(target) : Self.userNotFound(target)
    }
    return try .uncached(RelationResponse(relation))
  }

  private func unrelate(_ request: Request, _ kind: RelationKind) async throws -> Response {
    let (user, target) = try ends(request, kind)
    let store = store
    try await database.transaction { session in
      try store.unrelate(user, kind, to: target, session, check: request.checkVersion)
    }
    return Response(.noContent)
  }

  private func readRelation(_ request: Request, _ kind: RelationKind) async throws -> Response {
    let (user, target) = try ends(request, kind)
    let store = store
    guard let relation = try await database.read({ try store.relation(of: user, kind, to: target, $0) }) else {
      throw ProblemKind.relationNotFound.problem("The user '\(user)' has no such relation to '\(target)'.")
    }
    return try .versioned(RelationResponse(relation), relation)
  }

  /// The value of `state` for relations of others to the user, of a kind without requests.
  private enum Received: String, CaseIterable { case received }

  /// Lists the relations of a user, for the user.
  private func listRelations(_ request: Request, _ kind: RelationKind) async throws -> Response {
    var reader = QueryReader(request.target)
    let state: Relation.State
    switch kind.rule {
    case .ownSide: state = .established
    case .bothSides: state = reader.choice("state", of: Relation.State.self) ?? .established
    case .ending: state = reader.choice("state", of: Received.self) == nil ? .established : .received
    }
    let page = reader.page()
    try reader.finish()
    let (store, viewer, user) = (store, request.caller.viewer, try name(request))
    guard viewer.owns(user) else { throw Self.notOwn(kind) }
    let relations: Page<Relation>
    if kind.rule == .ending, state == .received {
      try checkSecret(request)
      relations = try await database.read { try store.relations(to: user, kind, for: viewer, page, $0) }
    } else {
      relations = try await database.read {
        try store.relations(of: user, kind, state, for: viewer, page, $0)
      }
    }
    return try .uncached(PageResponse(relations, RelationResponse.init))
  }

  /// Lists the relations of all users to a post or a place.
  private func listUsers(_ request: Request, _ kind: RelationKind) async throws -> Response {
    var reader = QueryReader(request.target)
    let page = reader.page()
    try reader.finish()
    let (store, viewer) = (store, request.caller.viewer)
    let target = kind.target == .post ? "\(try postID(request))" : try name(request)
    if !kind.isOpen { try checkSecret(request) }
    let relations = try await database.read { session in
      if kind.target == .post, try !store.hasPost(target, for: viewer, session) { throw Self.postNotFound(target) }
      return try store.relations(to: target, kind, for: viewer, page, session)
    }
    return try .uncached(PageResponse(relations, RelationResponse.init))
  }

  /// Throws unless the client acts as no user: users do not learn who has blocked them, or who keeps what.
  private func checkSecret(_ request: Request) throws(Problem) {
    guard request.caller.viewer != .unrestricted else { return }
    throw ProblemKind.forbidden.problem("The list is only for clients that act as no user.")
  }

  /// Returns the user and the target in the path; throws a problem unless the client is the user or acts as no user.
  private func ends(_ request: Request, _ kind: RelationKind) throws -> (user: String, target: String) {
    let user = try name(request)
    guard request.caller.viewer.owns(user) else { throw Self.notOwn(kind) }
    if kind.target == .post {
      let text = request.parameter("other")
      guard let post = PublicID(text) else { throw Self.postNotFound(text) }
      return (user, "\(post)")
    }
    let target = try name(request, "other")
    guard kind.target != .user || !target.utf8.elementsEqual(user.utf8) else {
      throw ProblemKind.invalidFields.problem(
        "A user has no relation to the same user.", errors: [FieldError("other", "expected another user")])
    }
    return (user, target)
  }

  private static func notOwn(_ kind: RelationKind) -> Problem {
    Caller.notYours("The \(kind.path) are those of another user than the one that the request acts as.")
  }
}

/// The JSON of a relation.
struct RelationResponse: Encodable {
  let kind: String
  let user: String
  let target: String
  let state: Relation.State
  let createdAt: Date

  init(_ relation: Relation) {
    kind = relation.kind.name
    user = relation.user
    target = relation.target
    state = relation.state
    createdAt = relation.createdAt
  }
}
