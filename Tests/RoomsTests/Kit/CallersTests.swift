import Crypto
import HTTPServer
import HTTPTesting
import Model
import Postgres
import Store
import Testing

@testable import Kit
@testable import Rooms

/// Every operation with every kind of client, for a post of each visibility, as docs/access.md has it.
@Suite("Who may do what", .tags(.database, .network), .timeLimit(.minutes(60)))
struct CallersTests {
  @Test("the table has a row for each route, and names its scopes")
  func rows() async throws {
    let table = try AccessTable()
    let routes = try await RunningAPI.with { api in api.routes.map { "\($0.method) \($0.template)" } }
    #expect(Set(table.rows.map { "\($0.method) \($0.template)" }) == Set(routes))
    for row in table.rows {
      #expect(row.responses.count == AccessTable.Client.allCases.count, "\(row.method) \(row.template)")
      #expect(row.responses.values.allSatisfy { $0.count == 3 }, "\(row.method) \(row.template)")
      if case .scopes(let scopes) = row.access { #expect(!scopes.isEmpty, "\(row.method) \(row.template)") }
    }
  }

  @Test("each client gets the responses of its column", arguments: AccessTable.Client.allCases)
  func columns(client: AccessTable.Client) async throws {
    let table = try AccessTable()
    let source = try await IdentityProviderTests.Source()
    var setting = RunningAPI.Setting()
    setting.providers = [await source.provider()]
    setting.passwords = try PasswordWork()
    try await RunningAPI.with(setting) { api in
      var clients = try await Clients(api, source)
      try await clients.relate(client)
      var fixtures = Fixtures { visibility in try await AccessFixture(api, visibility: visibility) }
      for row in table.rows {
        for (index, visibility) in Visibility.allCases.enumerated() {
          let fixture = try await fixtures.fixture(visibility, row)
          let sent = fixture.request(row, author: client == .key ? "ada" : nil)
          let response = try await clients.send(row, sent, as: client)
          fixtures.spend(visibility, row, response)
          var found = "\(response.status)"
          let isList = ["/v1/posts", "/v1/posts/search", "/v1/users/{id}/calendar"].contains(row.template)
          let isFound =
            switch row.template {
            case "/v1/users": "\"id\":\"ada\""
            case "/v1/users/{id}/collections": "\(fixture.collection)"
            default: isList ? "\(fixture.post)" : ""
            }
          if response.status == 200, !isFound.isEmpty, !response.text.contains(isFound) { found += " without" }
          let expected = row.responses[client]?[index]
          #expect(found == expected, "\(row.method) \(row.template) \(row.note), \(visibility.rawValue)")
          if response.status == 404 {
            // As for an id that does not exist: the response does not say that there is something.
            let type = response.json["type"].text ?? ""
            #expect(type.hasSuffix("_not_found"), "\(row.method) \(row.template) \(row.note)")
          }
        }
      }
    }
  }

  @Test(
    "a post that was rejected, has failed, is held or is hidden is to each client what a private one is",
    arguments: AccessTable.Client.allCases)
  func statuses(client: AccessTable.Client) async throws {
    let table = try AccessTable()
    let source = try await IdentityProviderTests.Source()
    var setting = RunningAPI.Setting()
    setting.providers = [await source.provider()]
    try await RunningAPI.with(setting) { api in
      var clients = try await Clients(api, source)
      try await clients.relate(client)
      // Those of the post, and of what belongs to it: others answer the same whatever the post is.
      let rows = table.rows.filter { row in
        !row.template.contains("/collections") && row.responses.values.contains { Set($0).count > 1 }
      }
      #expect(rows.count > 20)
      var fixtures = Fixtures<PostStatus> { status in
        let fixture = try await AccessFixture(api, visibility: .public)
        let change =
          switch status {
          case .held: "moderation = 'hold', status = status"
          case .hidden: "moderation = 'hide', status = status"
          case .processing, .ready, .rejected, .failed: "status = '\(status.rawValue)'"
          }
        try await api.execute("UPDATE post SET \(change) WHERE public_id = '\(fixture.post)'")
        return fixture
      }
      for row in rows {
        for status in PostStatus.allCases where status != .ready {
          let fixture = try await fixtures.fixture(status, row)
          var sent = fixture.request(row, author: client == .key ? "ada" : nil)
          if row.template == "/v1/posts", row.method == "GET" { sent.path += "&status=\(status.rawValue)" }
          let response = try await clients.send(row, sent, as: client)
          fixtures.spend(status, row, response)
          var found = "\(response.status)"
          // The search and the calendar have what is ready.
          let isOfReady = ["/v1/posts/search", "/v1/users/{id}/calendar"].contains(row.template)
          let isList = isOfReady || row.template == "/v1/posts"
          if response.status == 200, isList, !response.text.contains("\(fixture.post)") { found += " without" }
          var expected = row.responses[client]?[status == .processing ? 0 : 2]
          if isOfReady, expected == "200" { expected = "200 without" }
          #expect(found == expected, "\(row.method) \(row.template) \(row.note), \(status.rawValue)")
        }
      }
    }
  }

  @Test("a key without a scope of the row is refused, and so is every credential that is not valid")
  func others() async throws {
    let table = try AccessTable()
    let source = try await IdentityProviderTests.Source()
    var setting = RunningAPI.Setting()
    setting.providers = [await source.provider()]
    setting.passwords = try PasswordWork()
    try await RunningAPI.with(setting) { api in
      let clients = try await Clients(api, source)
      let fixture = try await AccessFixture(api, visibility: .public)
      let invalid = try await clients.invalid()
      for row in table.rows {
        func status(_ credential: [(String, String)]) async throws -> Int {
          try await clients.send(row, fixture.request(row, author: "ada"), credential).status
        }
        // An open operation does not look at the credential.
        let expected = row.access == .open ? row.responses[.key]?[0] : "401"
        let operation = "\(row.method) \(row.template)"
        for (name, credential) in invalid {
          let expected = credential.isEmpty ? row.responses[.stranger]?[0] : expected
          #expect(try await "\(status(credential))" == expected, "\(operation), \(name)")
        }
        guard case .scopes(let scopes) = row.access else { continue }
        for scope in Scope.allCases where !scopes.isSubset(of: [scope]) {
          #expect(try await status(clients.key([scope])) == 403, "\(operation), key with \(scope.rawValue)")
        }
      }
    }
  }
}

/// The fixtures that requests of the table are sent to: what a request may have changed is made again for the next one. One that was
/// refused has changed nothing, which the requests after it find.
private struct Fixtures<Kind: Hashable> {
  private let make: (Kind) async throws -> AccessFixture
  private var made: [Kind: AccessFixture] = [:]

  init(_ make: @escaping (Kind) async throws -> AccessFixture) { self.make = make }

  mutating func fixture(_ kind: Kind, _ row: AccessTable.Row) async throws -> AccessFixture {
    // A calendar has the last post of a day.
    let isCalendar = row.template == "/v1/users/{id}/calendar"
    if let fixture = made[kind], !isCalendar { return fixture }
    let fixture = try await make(kind)
    made[kind] = fixture
    return fixture
  }

  mutating func spend(_ kind: Kind, _ row: AccessTable.Row, _ response: ClientResponse) {
    let isChange = !["GET", "OPTIONS"].contains(row.method) && ![401, 403, 404].contains(response.status)
    // What is added stands beside what the fixture has, but a report opens a case, and a new link replaces the former one.
    let isAlone = !["/v1/reports", "/v1/collections/{id}/link"].contains(row.template)
    let adds = row.method == "POST" && [200, 201].contains(response.status) && isAlone
    guard isChange, !adds else { return }
    // The users, and who is signed in, belong to all fixtures.
    if ["/v1/users/", "/v1/tokens/"].contains(where: row.template.hasPrefix) { made = [:] } else { made[kind] = nil }
  }
}

/// The clients of the table, with keys and tokens of one service.
private struct Clients {
  private let api: RunningAPI
  private let minter: Int64
  private let source: IdentityProviderTests.Source
  /// The header fields that a client authenticates itself with, until a request of its has changed something.
  private var credentials: [AccessTable.Client: [(String, String)]] = [:]

  init(_ api: RunningAPI, _ source: IdentityProviderTests.Source) async throws {
    self.api = api
    self.source = source
    minter = try await api.createKey("t5-minter", [.tokens])
    for scope in Scope.allCases { _ = try await api.createKey(Self.name([scope]), [scope]) }
    _ = try await api.createKey(Self.name([.change, .read]), [.change, .read])
  }

  private static func name(_ scopes: Set<Scope>) -> String {
    "t5-" + scopes.map(\.rawValue).sorted().joined(separator: "-")
  }

  func key(_ scopes: Set<Scope>) -> [(String, String)] { [("Authorization", "Bearer \(Self.name(scopes))")] }

  /// Sends the request of a row as a client with a column.
  mutating func send(
    _ row: AccessTable.Row, _ sent: AccessFixture.Sent, as client: AccessTable.Client
  ) async throws -> ClientResponse {
    var scopes: Set<Scope> = [.read]
    if case .scopes(let needed) = row.access { scopes = needed }
    let response = try await send(row, sent, credential(client, scopes))
    if row.method != "GET", response.status < 300 { credentials[client] = nil }
    return response
  }

  private mutating func credential(
    _ client: AccessTable.Client, _ scopes: Set<Scope>
  ) async throws -> [(String, String)] {
    switch client {
    case .key: return key(scopes)
    case .keyAsAda: return key(scopes) + [("Take5-User", "ada")]
    case .keyAsBob: return key(scopes) + [("Take5-User", "bob")]
    case .stranger: return []
    default: break
    }
    if let credential = credentials[client] { return credential }
    let credential: [(String, String)] =
      switch client {
      case .jwtOfAda: try await source.bearer("ada")
      case .jwtOfBob: try await source.bearer("bob")
      case .grant:
        try await api.token(
          of: "ada", minter: .key(minter), grant: UploadGrant(kinds: SubmissionKind.allCases, bytes: 1 << 20)
        ).header
      case .tokenOfAda: try await api.token(of: "ada", minter: .key(minter)).header
      default: try await api.token(of: "bob", minter: .key(minter)).header
      }
    credentials[client] = credential
    return credential
  }

  func send(
    _ row: AccessTable.Row, _ sent: AccessFixture.Sent, _ credential: [(String, String)]
  ) async throws -> ClientResponse {
    let type = sent.type.map { [("Content-Type", $0)] } ?? []
    // The stream does not end; the response to HEAD has the same status.
    let method = ["/v1/events", "/v1/moderation/events"].contains(row.template) ? "HEAD" : row.method
    return try await request(
      method, sent.path, port: api.port, headers: credential + type + sent.headers, body: sent.body)
  }

  /// Gives Ada and Bob the relation of a column.
  func relate(_ client: AccessTable.Client) async throws {
    try await api.pool.transaction { session in
      func relate(_ user: String, _ kind: RelationKind, _ other: String) throws {
        _ = try Relations.relate(user, kind, to: other, for: .unrestricted, session)
      }
      func befriend() throws {
        try relate("ada", .friend, "bob")
        try relate("bob", .friend, "ada")
      }
      switch client {
      case .key, .keyAsAda, .tokenOfAda, .jwtOfAda, .keyAsBob, .tokenOfBob, .jwtOfBob, .grant, .stranger: break
      case .friend: try befriend()
      case .formerFriend:
        try befriend()
        try Relations.unrelate("bob", .friend, to: "ada", session) { _ in }
      case .blockedByAda:
        try befriend()
        try relate("ada", .block, "bob")
      case .hasBlockedAda:
        try befriend()
        try relate("bob", .block, "ada")
      }
    }
  }

  /// Credentials that are not valid.
  func invalid() async throws -> [(name: String, credential: [(String, String)])] {
    let expired = try await api.token(of: "ada", minter: .key(minter))
    let revoked = try await api.token(of: "ada", minter: .key(minter))
    let other = try await api.createKey("t5-revoked", Set(Scope.allCases))
    let orphaned = try await api.token(of: "ada", minter: .key(other))
    let ofOperator = try await api.token(of: "ada", minter: .operatorKey)
    let ofAnybody = try await api.token(of: "ada", minter: .anybody)
    try await api.revoke(other)
    try await api.pool.run { session in
      try session.execute(
        "UPDATE user_token SET expires_at = clock_timestamp() WHERE public_id = $1::uuid", .text("\(expired.id)"))
      _ = try Tokens.revoke(revoked.id, of: "ada", in: .all, session) { _ in }
    }
    return [
      ("no credential", []), ("an unknown key", [("Authorization", "Bearer t5_unknown")]),
      ("an unknown token", [("Authorization", "Bearer t5u_unknown")]), ("an expired token", expired.header),
      ("a revoked token", revoked.header), ("a revoked key", [("Authorization", "Bearer t5-revoked")]),
      ("a token of a revoked key", orphaned.header), ("a token of an operator's key that is gone", ofOperator.header),
      ("a token from before the first key", ofAnybody.header),
      ("a JWT of another audience", try await source.bearer(audience: "other")),
      ("a JWT that has expired", try await source.bearer(expires: 1_799_999_999)),
    ]
  }
}

extension RunningAPI {
  /// A user token with its header field.
  struct Token: Sendable {
    let id: PublicID
    let header: [(String, String)]
  }

  /// Stores a user token.
  func token(
    of user: String, minter: UserToken.Minter, grant: UploadGrant? = nil
  ) async throws -> Token {
    let text = UserToken.prefix + "\(PublicID.now())"
    let stored = try await pool.run { session in
      try Tokens.insert(
        of: user, hash: SHA256.digest(of: Array(text.utf8)), minter: minter, grant: grant, lifetime: 3600, session)
    }
    return Token(id: stored.id, header: [("Authorization", "Bearer \(text)")])
  }
}
