internal import Crypto
import FoundationEssentials
internal import HTTPServer
internal import Kit
internal import Model
internal import Postgres
internal import Store

/// The routes of user tokens. An app's back-end mints them for its users, whose phones then need no API key.
struct TokenRoutes: RouteRoom {
  let kit: Kit

  var routes: [Route] {
    [
      route("POST", "/v1/users/{id}/tokens", access: .key([.tokens]), bodyLimit: JSONBody.limit, handler: mintToken),
      route("GET", "/v1/users/{id}/tokens", access: .key([.tokens]), readsQuery: true, handler: listTokens),
      route("DELETE", "/v1/users/{id}/tokens", access: .key([.tokens]), handler: revokeTokens),
      route("DELETE", "/v1/users/{id}/tokens/{token}", access: .key([.tokens]), handler: revokeToken),
      route("DELETE", "/v1/tokens/current", access: .userToken, handler: revokeCurrentToken),
    ]
  }

  private func mintToken(_ request: Request) async throws -> Response {
    let user = try name(request)
    let draft = try TokenDraft(fields: try await JSONBody.fields(of: request))
    let minter = request.caller.minter
    let text = Kit.newSecret(UserToken.prefix)
    let token = try await database.transaction { session in
      try Tokens.insert(
        of: user, hash: SHA256.digest(of: Array(text.utf8)), minter: minter, grant: draft.grant,
        lifetime: draft.expiresIn, device: draft.device, session)
    }
    return try Self.minted(token, text)
  }

  /// Returns the response with a new token, the only one that contains its text.
  static func minted(_ token: UserToken, _ text: String) throws -> Response {
    try .versioned(TokenResponse(token, text: text), token, .created)
  }

  /// The same for the tokens of a session that is renewed.
  static func minted(_ tokens: RenewableSession.IssuedTokens) throws -> Response {
    let response = TokenResponse(
      tokens.stored, text: tokens.access, refresh: tokens.refresh.text, expiresAt: tokens.accessExpiry)
    return try .versioned(response, tokens.stored, .created)
  }

  private func listTokens(_ request: Request) async throws -> Response {
    let user = try name(request)
    return try await list(request, { TokenResponse($0) }, else: Self.notFound(.user, user)) { _, page, session in
      try Tokens.list(of: user, page, session)
    }
  }

  private func revokeTokens(_ request: Request) async throws -> Response {
    let user = try name(request)
    let revoked = try await database.transaction { session in
      // The tokens of a user are a list, which has no version.
      try request.checkVersion(of: nil)
      return try Tokens.revokeAll(of: user, in: .all, session)
    }
    access.tokens.forget(Set(revoked))
    return Response(.noContent)
  }

  private func revokeToken(_ request: Request) async throws -> Response {
    let text = request.parameter("token")
    guard let id = PublicID(text), try await revoke(id, of: try name(request), request) else {
      throw ProblemKind.tokenNotFound.problem("The user has no token with the id \(text) that is not revoked.")
    }
    return Response(.noContent)
  }

  private func revokeCurrentToken(_ request: Request) async throws -> Response {
    // A token that was revoked in the meantime is what the client wants.
    if let token = request.caller.token { _ = try await revoke(token.id, of: token.user, request) }
    return Response(.noContent)
  }

  private func revoke(_ id: PublicID, of user: String, _ request: Request) async throws -> Bool {
    let isRevoked = try await database.transaction { session in
      try Tokens.revoke(id, of: user, in: .all, session, check: request.checkVersion)
    }
    access.tokens.forget([id])
    return isRevoked
  }
}

/// What a request for a token asks for.
struct TokenDraft {
  /// In seconds.
  let expiresIn: Int
  let grant: UploadGrant?
  let device: String?

  /// Reads the fields of the body; throws a problem that names every invalid field.
  init(fields: [String: JSONValue]) throws(Problem) {
    var reader = FieldReader(fields, path: "")
    expiresIn = reader.expiresIn()
    device = reader.device()
    grant = reader.object("grant") { reader in
      let kinds = reader.value("kinds", Self.expectedKinds, isRequired: true, Self.kinds)
      let bytes = reader.integer("bytes", in: 1...(1 << 40), isRequired: true)
      guard let kinds, let bytes else { return nil }
      return UploadGrant(kinds: kinds, bytes: Int64(bytes))
    }
    try reader.check()
  }

  private static let expectedKinds =
    "expected a list of " + SubmissionKind.allCases.map(\.rawValue).joined(separator: ", ")

  private static func kinds(_ value: JSONValue) -> [SubmissionKind]? {
    guard case .array(let values) = value, !values.isEmpty else { return nil }
    let kinds = values.map { value -> SubmissionKind? in
      guard case .string(let text) = value else { return nil }
      return SubmissionKind(named: text)
    }
    guard !kinds.contains(nil) else { return nil }
    return SubmissionKind.allCases.filter { kinds.contains($0) }
  }
}

/// The JSON of a user token; values that do not apply are null. Only the response that mints it contains the token itself.
private struct TokenResponse: Encodable {
  private let stored: UserToken
  private let text: String?
  private let refresh: String?
  private let expiresAt: Date

  init(_ stored: UserToken, text: String? = nil, refresh: String? = nil, expiresAt: Date? = nil) {
    self.stored = stored
    self.text = text
    self.refresh = refresh
    self.expiresAt = expiresAt ?? stored.expiresAt
  }

  private enum CodingKeys: String, CodingKey { case id, user, token, refreshToken, createdAt, expiresAt, grant, usedAt }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(stored.id, forKey: .id)
    try container.encode(stored.user, forKey: .user)
    try container.encodeIfPresent(text, forKey: .token)
    try container.encodeIfPresent(refresh, forKey: .refreshToken)
    try container.encode(stored.createdAt, forKey: .createdAt)
    try container.encode(expiresAt, forKey: .expiresAt)
    try container.encode(stored.grant, forKey: .grant)
    try container.encode(stored.usedAt, forKey: .usedAt)
  }
}

extension UserToken: Versioned {
  var version: some Encodable { ["id": "\(id)", "used": usedAt == nil ? "no" : "yes"] }
}
