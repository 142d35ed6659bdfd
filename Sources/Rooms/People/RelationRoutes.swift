import FoundationEssentials
internal import HTTPServer
internal import Kit
internal import Model
internal import Postgres
internal import Store

/// The routes of relations, which follow from the kinds of relations.
struct RelationRoutes: RouteRoom {
  let kit: Kit
  /// The maximum number of friends of a user.
  let maxFriends: Int

  var routes: [Route] { RelationKind.all.flatMap(routes(of:)) }

  private func routes(of kind: RelationKind) -> [Route] {
    let list = "/v1/users/{id}/\(kind.path)"
    let single = "\(list)/{other}"
    var routes = [
      route("GET", list, access: .key([.read]), readsQuery: true) { try await listRelations($0, kind) },
      route("GET", single, access: .key([.read]), includes: true) { try await readRelation($0, kind) },
      route("PUT", single, access: .key([.submit])) { try await relate($0, kind) },
      route("DELETE", single, access: .key([.delete])) { try await unrelate($0, kind) },
    ]
    if kind.hasOrder {
      routes.append(
        route("PUT", list, access: .key([.submit]), bodyLimit: JSONBody.limit) { try await arrange($0, kind) })
    }
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
    let record: RecordID.Kind = kind.target == .post ? .post : .user
    let relation = try await find(request, changing: true, else: Self.notFound(record, target)) {
      try Relations.relate(user, kind, to: target, for: $0, maxFriends: maxFriends, $1)
    }
    return try .uncached(RelationResponse(relation))
  }

  private func unrelate(_ request: Request, _ kind: RelationKind) async throws -> Response {
    let (user, target) = try ends(request, kind)
    try await database.transaction { session in
      try Relations.unrelate(user, kind, to: target, session, check: request.checkVersion)
    }
    return Response(.noContent)
  }

  /// Puts the relations of a user in the user's order.
  private func arrange(_ request: Request, _ kind: RelationKind) async throws -> Response {
    let user = try owner(of: Self.owned(kind), request)
    var reader = FieldReader(try await JSONBody.fields(of: request), path: "")
    let field = "\(kind.target.rawValue)s"
    let targets: [String]? = reader.value(
      field, "expected up to \(RelationKind.maxOrdered) different ids", isRequired: true, Self.targets)
    try reader.check()
    try access.countSubmission(of: user, request)
    let missing = try await database.transaction { session in
      try Relations.arrange(kind, of: user, as: targets ?? [], session)
    }
    guard missing.isEmpty else {
      throw ProblemKind.invalid(missing.map { FieldError("\(field)[\($0)]", "is no \(kind.name) of the user") })
    }
    return Response(.noContent)
  }

  private static func targets(_ value: JSONValue) -> [String]? {
    guard case .array(let values) = value, values.count <= RelationKind.maxOrdered else { return nil }
    let texts = values.compactMap { value in if case .string(let text) = value { text } else { nil } }
    // By bytes, as the database compares them.
    guard texts.count == values.count, Set(texts.map { Array($0.utf8) }).count == texts.count,
      !texts.contains(where: { $0.utf8.contains(0) })
    else { return nil }
    return texts
  }

  private func readRelation(_ request: Request, _ kind: RelationKind) async throws -> Response {
    let (user, target) = try ends(request, kind)
    let missing = ProblemKind.relationNotFound.problem("The user '\(user)' has no such relation to '\(target)'.")
    return try await show(request, RelationResponse.init, else: missing) { _, session in
      try Relations.find(of: user, kind, to: target, session)
    }
  }

  /// The values of `sort` of a kind that users order.
  private enum Order: String, CaseIterable { case newest, own }

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
    let order = kind.hasOrder ? reader.choice("sort", of: Order.self) : nil
    let page = reader.page()
    let inclusion = try inclusion(of: Relation.self, &reader, request)
    try reader.finish()
    let (viewer, user) = (request.caller.viewer, try owner(of: Self.owned(kind), request))
    let isReceived = kind.rule == .ending && state == .received
    if isReceived { try checkSecret(request) }
    let (relations, included) = try await database.read { session in
      let relations =
        order == .own
        ? try Relations.arranged(kind, of: user, for: viewer, page, session)
        : isReceived
          ? try Relations.list(to: user, kind, for: viewer, page, session)
          : try Relations.list(of: user, kind, state, for: viewer, page, session)
      return (relations, try inclusion.read(relations.items, session))
    }
    return try .uncached(PageResponse(relations, RelationResponse.init), including: included)
  }

  /// Lists the relations of all users to a post or a place.
  private func listUsers(_ request: Request, _ kind: RelationKind) async throws -> Response {
    let target = kind.target == .post ? "\(try id(.post, request))" : try name(request)
    if !kind.isOpen { try checkSecret(request) }
    return try await list(request, RelationResponse.init, else: Self.notFound(.post, target)) {
      viewer, page, session in
      if kind.target == .post, try !RecordID.Kind.post.exists(target, for: viewer, session) { return nil }
      return try Relations.list(to: target, kind, for: viewer, page, session)
    }
  }

  /// Throws unless the client acts as no user: users do not learn who has blocked them, or who keeps what.
  private func checkSecret(_ request: Request) throws(Problem) {
    guard request.caller.viewer != .unrestricted else { return }
    throw ProblemKind.forbidden.problem("The list is only for clients that act as no user.")
  }

  /// Returns the user and the target in the path; throws a problem unless the client is the user or acts as no user.
  private func ends(_ request: Request, _ kind: RelationKind) throws -> (user: String, target: String) {
    let user = try owner(of: Self.owned(kind), request)
    if kind.target == .post { return (user, "\(try id(.post, request, "other"))") }
    let target = try name(request, "other")
    guard kind.target != .user || !target.utf8.elementsEqual(user.utf8) else {
      throw ProblemKind.invalidFields.problem(
        "A user has no relation to the same user.", errors: [FieldError("other", "expected another user")])
    }
    return (user, target)
  }

  private static func owned(_ kind: RelationKind) -> String { "The \(kind.path) are those" }
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

extension Relation: Versioned {
  var version: some Encodable { [kind.name, user, target, state.rawValue, "\(createdAt.timeIntervalSince1970)"] }
}
