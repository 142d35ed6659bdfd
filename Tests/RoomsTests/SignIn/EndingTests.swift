import Crypto
import HTTPTesting
import Model
import Platform
import Postgres
import Store
import Testing
import TokenTesting
import WaitTesting

@testable import Kit
@testable import Rooms

/// What ends a credential or the sight of a post, in many orders.
@Suite("Endings", .tags(.database, .network), .timeLimit(.minutes(60)))
struct EndingTests {
  /// A change by which something is closed, or which seems to undo one.
  enum Change: String, CaseIterable {
    case revokeKey, createKey, rotateSigning, rotateSigningKeeping, removeProviderKey, addProviderKey
    case revokeToken, revokeTokens, disableAccount, enableAccount, changePassword
    case unfriend, restrictPost, deletePost
  }

  /// Orders of all changes: forward and backward from each of them, so that of two changes each comes first in some.
  static let orders = Change.allCases.indices.flatMap { start in
    let order = Array(Change.allCases[start...] + Change.allCases[..<start])
    return [order, order.reversed()]
  }

  @Test(
    "nothing that was closed opens again, whatever is revoked, rotated and deleted in which order", arguments: orders)
  func closed(order: [Change]) async throws {
    let source = try await IdentityProviderTests.Source()
    var setting = RunningAPI.Setting()
    setting.providers = [await source.provider()]
    setting.passwords = try PasswordWork()
    try await RunningAPI.with(setting) { api in
      let house = try await House(api, source)
      var open = try await house.openDoors()
      #expect(open == Set(house.doors.keys))
      for change in order {
        try await house.make(change)
        let now = try await house.openDoors()
        #expect(now.isSubset(of: open), "\(now.subtracting(open)) after \(change)")
        open = now
      }
      #expect(open == ["key of another app"])
    }
  }

  @Test("a media URL of a user is valid as long as a token of the user is, also when the known one ends with its key")
  func anotherToken() async throws {
    var setting = RunningAPI.Setting()
    setting.passwords = try PasswordWork()
    try await RunningAPI.with(setting) { api in
      let post = try await AccessFixture(api, visibility: .public).post
      let key = try await api.createKey("t5-app", [.read, .tokens])
      let minted = try await api.token(of: "bob", minter: .key(key))
      let read = try await api.get("/v1/posts/\(post)", headers: minted.header)
      let url = try #require(read.json["assets"]["poster"]["url"].text)
      #expect(try await api.get(url).status == 200)
      try await api.pool.transaction { session in
        _ = try Relations.relate("bob", .friend, to: "ada", for: .unrestricted, session)
        _ = try session.execute("INSERT INTO account (user_id, password_hash) VALUES ('bob', '')")
      }
      _ = try await api.token(of: "bob", minter: .account)
      try await api.revoke(key)
      #expect(try await api.get(url).status == 200)
      #expect(try await api.get("/v1/posts/\(post)", headers: minted.header).status == 401)
    }
  }
}

/// A post of Ada's for friends, and the credentials of Bob, her friend, and of apps, each with the URL of the poster that it got.
private struct House: Sendable {
  let api: RunningAPI
  let source: IdentityProviderTests.Source
  let post: PublicID
  let key: Int64
  let token: PublicID
  /// The requests that succeed at first, by their names.
  let doors: [String: (path: String, headers: [(String, String)])]

  init(_ api: RunningAPI, _ source: IdentityProviderTests.Source) async throws {
    self.api = api
    self.source = source
    let fixture = try await AccessFixture(api, visibility: .friends)
    post = fixture.post
    key = try await api.createKey("t5-app", [.read, .tokens])
    _ = try await api.createKey("t5-other", [.read])
    let minted = try await api.token(of: "bob", minter: .key(key))
    token = minted.id
    let hash = PasswordHash(text: "$argon2id$v=19$m=8,t=1,p=1$MDEyMzQ1Njc4OWFiY2RlZg$AAAAAAAAAAAAAAAAAAAAAA")
    try await api.pool.transaction { session in
      for (user, other) in [("ada", "bob"), ("bob", "ada")] {
        _ = try Relations.relate(user, .friend, to: other, for: .unrestricted, session)
      }
      // Bob has an account as well; a registration would give him another id.
      try session.execute("INSERT INTO account (user_id, password_hash) VALUES ('bob', $1)", .text(hash.text))
    }
    let credentials = [
      "key as Bob": [("Authorization", "Bearer t5-app"), ("Take5-User", "bob")], "token": minted.header,
      "token of the account": try await api.token(of: "bob", minter: .account).header,
      "token of the provider": try await source.bearer("bob"),
    ]
    var doors: [String: (path: String, headers: [(String, String)])] = [
      // A list succeeds without the post as well.
      "key of another app": ("/v1/window", [("Authorization", "Bearer t5-other")])
    ]
    let path = "/v1/posts/\(post)"
    for (name, credential) in credentials {
      doors[name] = (path, credential)
      let url = try await api.get(path, headers: credential).json["assets"]["poster"]["url"].text
      doors["URL of the \(name)"] = (try #require(url, "\(name)"), [])
    }
    self.doors = doors
  }

  /// The names of the doors that are open.
  func openDoors() async throws -> Set<String> {
    var open: Set<String> = []
    for (name, door) in doors {
      var status = 503
      // A busy machine says nothing of the door.
      try await until("an answer to the \(name)") {
        status = try await api.get(door.path, headers: door.headers).status
        return status != 503
      }
      #expect([200, 401, 403, 404].contains(status), "\(name): \(status)")
      if status == 200 { open.insert(name) }
    }
    return open
  }

  func make(_ change: EndingTests.Change) async throws {
    let (post, token) = (post, token)
    switch change {
    case .revokeKey: try await api.revoke(key)
    case .createKey: _ = try await api.createKey("t5-\(PublicID.now())", Set(Scope.allCases))
    case .removeProviderKey: try await replaceProviderKeys(by: "second")
    // Of the same name as the first one.
    case .addProviderKey: try await replaceProviderKeys(by: "first")
    case .rotateSigning, .rotateSigningKeeping, .revokeToken, .revokeTokens, .disableAccount, .enableAccount,
      .changePassword, .unfriend, .restrictPost, .deletePost:
      let revoked = try await api.pool.transaction { session -> [PublicID] in
        switch change {
        case .rotateSigning: try Keys.rotateSigningKeys(keepingOld: 0, session)
        case .rotateSigningKeeping: try Keys.rotateSigningKeys(keepingOld: 90_000, session)
        case .revokeToken: return try Tokens.revoke(token, of: "bob", in: .all, session) { _ in } ? [token] : []
        case .revokeTokens: return try Tokens.revokeAll(of: "bob", in: .all, session)
        case .disableAccount: return try Accounts.setDisabled(true, of: "bob", session) ?? []
        case .enableAccount: return try Accounts.setDisabled(false, of: "bob", session) ?? []
        case .changePassword:
          return try Accounts.setPassword(of: "bob", PasswordHash(text: "other"), session) ?? []
        case .unfriend: try Relations.unrelate("bob", .friend, to: "ada", session, check: { _ in })
        case .restrictPost:
          try session.execute("UPDATE post SET visibility = 'private' WHERE public_id = $1::uuid", .text("\(post)"))
        case .deletePost: _ = try Posts.delete(post, for: .unrestricted, session)
        case .revokeKey, .createKey, .removeProviderKey, .addProviderKey: break
        }
        return []
      }
      api.access.tokens.forget(Set(revoked))
      try await api.access.refresh(api.pool)
    }
  }

  private func replaceProviderKeys(by id: String) async throws {
    let key = try await source.issuer.ecKey(id)
    source.keys.withLock { $0 = [key] }
    await api.access.providers.refresh()
  }
}
