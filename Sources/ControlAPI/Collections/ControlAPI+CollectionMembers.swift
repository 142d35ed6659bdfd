internal import Crypto
import FoundationEssentials
internal import HTTPServer
internal import Model
internal import Postgres
internal import Store

/// The routes of the members of a collection, its link and its activity.
extension ControlAPI {
  var collectionMemberRoutes: [Route] {
    [
      route("GET", "/v1/collections/{id}/members", access: .key([.read]), readsQuery: true, handler: listMembers),
      route(
        "PUT", "/v1/collections/{id}/members/{user}", access: .key([.submit]), bodyLimit: Int64(JSONBody.maxBytes),
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
    var reader = QueryReader(request.target)
    let limit = reader.number("limit", in: PageRequest.limits) ?? PageRequest().limit
    let after = reader.text("cursor")
    try reader.finish()
    let (store, viewer, id) = (store, request.caller.viewer, try collectionID(request))
    let members = try await database.read {
      try store.members(ofCollection: id, after: after, limit: limit, for: viewer, $0)
    }
    guard let members else { throw Self.collectionNotFound("\(id)") }
    return try .uncached(
      PageResponse(items: members.items, next: members.hasMore ? members.items.last?.user : nil))
  }

  private func addMember(_ request: Request) async throws -> Response {
    var query = QueryReader(request.target)
    let link = Self.link(&query)
    try query.finish()
    let (id, user) = (try collectionID(request), try name(request, "user"))
    var reader = FieldReader(try await JSONBody.fields(of: request), path: "")
    let role = reader.choice("role", of: CollectionMember.Role.self, isRequired: true)
    let errors = reader.finish()
    guard errors.isEmpty, let role else { throw ProblemKind.invalid(errors) }
    let (store, viewer) = (store, request.caller.viewer)
    try access.countSubmission(of: viewer.user ?? user, request)
    let shared = try await database.transaction { session in
      try store.share(collection: id, with: user, as: role, for: viewer, link: link, session)
    }
    switch shared {
    case .changed: return Response(.noContent)
    case .noCollection: throw Self.collectionNotFound("\(id)")
    case .noUser: throw Self.userNotFound(user)
    }
  }

  private func removeMember(_ request: Request) async throws -> Response {
    let (store, viewer) = (store, request.caller.viewer)
    let (id, user) = (try collectionID(request), try name(request, "user"))
    let isRemoved = try await database.transaction { session in
      guard try store.unshare(collection: id, with: user, for: viewer, session) else { return false }
      // A membership has no version.
      try request.checkVersion(of: nil)
      return true
    }
    guard isRemoved else { throw Self.collectionNotFound("\(id)") }
    return Response(.noContent)
  }

  private func createLink(_ request: Request) async throws -> Response {
    let (store, viewer, id) = (store, request.caller.viewer, try collectionID(request))
    let secret = Self.newSecret(Self.linkPrefix)
    let hash = SHA256.digest(of: Array(secret.utf8)).bytes
    guard try await database.transaction({ try store.setLink(hash, ofCollection: id, for: viewer, $0) }) else {
      throw Self.collectionNotFound("\(id)")
    }
    let path = CollectionResponse.path(id)
    return .json(
      .created, try JSON.encode(LinkResponse(link: secret, url: "\(path)?link=\(secret)")),
      headers: ["Cache-Control": "no-store", "Location": path])
  }

  private func deleteLink(_ request: Request) async throws -> Response {
    let (store, viewer, id) = (store, request.caller.viewer, try collectionID(request))
    let isRevoked = try await database.transaction { session in
      guard try store.setLink(nil, ofCollection: id, for: viewer, session) else { return false }
      try request.checkVersion(of: nil)
      return true
    }
    guard isRevoked else { throw Self.collectionNotFound("\(id)") }
    return Response(.noContent)
  }

  private func listActivity(_ request: Request) async throws -> Response {
    var reader = QueryReader(request.target)
    let page = reader.page()
    try reader.finish()
    let (store, viewer, id) = (store, request.caller.viewer, try collectionID(request))
    guard let activity = try await database.read({ try store.activity(ofCollection: id, for: viewer, page, $0) }) else {
      throw Self.collectionNotFound("\(id)")
    }
    return try .uncached(PageResponse(activity) { $0 })
  }
}
