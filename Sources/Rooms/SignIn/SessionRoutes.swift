import FoundationEssentials
internal import HTTPServer
internal import Kit
internal import Model
internal import Postgres
internal import Store

/// The routes of sessions: the valid user tokens of a user, as the user sees and ends them. Those that permit one submission are no
/// sessions.
struct SessionRoutes: RouteRoom {
  let kit: Kit

  var routes: [Route] {
    [
      route("GET", "/v1/users/{id}/sessions", access: .key([.read]), readsQuery: true, handler: listSessions),
      route("DELETE", "/v1/users/{id}/sessions", access: .key([.delete]), handler: endOthers),
      route("DELETE", "/v1/users/{id}/sessions/{session}", access: .key([.delete]), handler: end),
    ]
  }

  private func listSessions(_ request: Request) async throws -> Response {
    let (user, current) = (try owner(of: "The sessions are those", request), request.caller.token?.id)
    return try await list(
      request, { SessionResponse($0, isCurrent: $0.id == current) }, else: Self.notFound(.user, user)
    ) { _, page, session in
      try Tokens.list(of: user, withGrants: false, page, session)
    }
  }

  /// Ends all sessions but the one of the request, and revokes tokens that permit one submission.
  private func endOthers(_ request: Request) async throws -> Response {
    let (user, current) = (try owner(of: "The sessions are those", request), request.caller.token?.id)
    let ended = try await database.transaction { session in
      // They are a list, which has no version.
      try request.checkVersion(of: nil)
      return try Tokens.revokeAll(of: user, except: current, in: .all, session)
    }
    access.tokens.forget(Set(ended))
    return Response(.noContent)
  }

  private func end(_ request: Request) async throws -> Response {
    let user = try owner(of: "The sessions are those", request)
    let text = request.parameter("session")
    guard let id = PublicID(text),
      try await database.transaction({ session in
        try Tokens.revoke(id, of: user, in: .all, session, check: request.checkVersion)
      })
    else { throw ProblemKind.tokenNotFound.problem("The user has no session with the id \(text).") }
    access.tokens.forget([id])
    return Response(.noContent)
  }
}

/// The JSON of a session; unknown values are null.
private struct SessionResponse: NilEncodable {
  private let token: UserToken
  private let isCurrent: Bool

  init(_ token: UserToken, isCurrent: Bool) {
    self.token = token
    self.isCurrent = isCurrent
  }

  private enum CodingKeys: CodingKey { case id, device, createdAt, usedAt, expiresAt, current }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(token.id, forKey: .id)
    try container.encode(token.device, forKey: .device)
    try container.encode(token.createdAt, forKey: .createdAt)
    try container.encode(token.lastUsedAt, forKey: .usedAt)
    try container.encode(token.expiresAt, forKey: .expiresAt)
    try container.encode(isCurrent, forKey: .current)
  }
}

extension FieldReader {
  /// Reads what a user calls the device that gets a token.
  mutating func device() -> String? { displayName("device", limit: 100, allowsEmpty: false) }
}
