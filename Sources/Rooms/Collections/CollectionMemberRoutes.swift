internal import Crypto
import FoundationEssentials
internal import HTTPServer
internal import Kit
internal import Model
internal import Postgres
internal import Store

/// The routes of the members of a collection, its link and its activity.
struct CollectionMemberRoutes: RouteRoom {
  let kit: Kit

  var routes: [Route] {
    [
      route("GET", "/v1/collections/{id}/members", access: .key([.read]), readsQuery: true, handler: listMembers),
      route(
        "PUT", "/v1/collections/{id}/members/{user}", access: .key([.submit]), bodyLimit: JSONBody.limit,
        readsQuery: true, handler: addMember),
      route("DELETE", "/v1/collections/{id}/members/{user}", access: .key([.delete]), handler: removeMember),
      route("POST", "/v1/collections/{id}/link", access: .key([.submit]), handler: createLink),
      route("DELETE", "/v1/collections/{id}/link", access: .key([.delete]), handler: deleteLink),
      route("GET", "/v1/collections/{id}/activity", access: .key([.read]), readsQuery: true, handler: listActivity),
    ]
  }

  /// The start of every link, by which programs that search for leaked secrets recognize it.
  private static let linkPrefix = "t5l_"

  private func listMembers(_ request: Request) async throws -> Response {
    let id = try id(.collection, request)
    return try await list(byUser: \CollectionMember.user, request, else: Self.notFound(.collection, id)) {
      try Collections.members(of: id, after: $1, limit: $2, for: $0, $3)
    }
  }

  private func addMember(_ request: Request) async throws -> Response {
    var query = QueryReader(request.target)
    let link = CollectionRoutes.link(&query)
    try query.finish()
    let (id, user) = (try id(.collection, request), try name(request, "user"))
    let viewer = request.caller.viewer
    let draft = try MembershipDraft(
      try await JSONBody.fieldsIfAny(of: request), joins: link != nil || viewer.user != nil && viewer.owns(user))
    try access.countSubmission(of: viewer.user ?? user, request)
    let kinds = definitions.collections
    let shared = try await database.transaction { session in
      switch draft {
      case .answer(let state):
        try Collections.answer(id, by: user, state, for: viewer, link: link, session)
      case .role(let role, let invites):
        try Collections.share(
          id, with: user, as: role, for: viewer, link: link,
          asks: { kind in
            guard kinds[kind]?.consent == true else { return invites == true }
            guard invites != false else {
              throw ProblemKind.invalid([FieldError("invite", "must not be false for the kind '\(kind)'")])
            }
            return true
          }, session)
      }
    }
    switch shared {
    case .changed: return Response(.noContent)
    case .noCollection: throw Self.notFound(.collection, id)
    case .noUser: throw Self.notFound(.user, user)
    }
  }

  private func removeMember(_ request: Request) async throws -> Response {
    let (id, user) = (try id(.collection, request), try name(request, "user"))
    return try await delete(request, else: Self.notFound(.collection, id)) { viewer, session in
      guard try Collections.unshare(id, with: user, for: viewer, session) else { return false }
      // A membership has no version.
      try request.checkVersion(of: nil)
      return true
    }
  }

  private func createLink(_ request: Request) async throws -> Response {
    let id = try id(.collection, request)
    let secret = Kit.newSecret(Self.linkPrefix)
    let hash = SHA256.digest(of: Array(secret.utf8)).bytes
    _ = try await find(request, changing: true, else: Self.notFound(.collection, id)) {
      try Collections.setLink(hash, of: id, for: $0, $1) ? true : nil
    }
    let path = CollectionResponse.path(id)
    return try .uncached(
      LinkResponse(link: secret, url: "\(access.publicURL?.prefix ?? "")\(path)?link=\(secret)"), .created, at: path)
  }

  private func deleteLink(_ request: Request) async throws -> Response {
    let id = try id(.collection, request)
    return try await delete(request, else: Self.notFound(.collection, id)) { viewer, session in
      guard try Collections.setLink(nil, of: id, for: viewer, session) else { return false }
      try request.checkVersion(of: nil)
      return true
    }
  }

  private func listActivity(_ request: Request) async throws -> Response {
    let id = try id(.collection, request)
    return try await list(request, { $0 }, else: Self.notFound(.collection, id)) {
      try Collections.activity(of: id, for: $0, $1, $2)
    }
  }
}
