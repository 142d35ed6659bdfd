import HTTPTesting
import Model
import Platform
import Postgres
import PostgresTesting
import Store
import Testing
import WaitTesting

@testable import Kit
@testable import Rooms

@Suite("Credentials of streams", .tags(.database, .network), .timeLimit(.minutes(60)))
struct StreamCredentialTests {
  /// Opens a stream, does something once it is open, and returns when the stream has ended.
  private static func expectEnd(
    _ path: String, _ credential: [(String, String)], _ api: RunningAPI, after action: () async throws -> Void
  ) async throws {
    let port = api.port
    async let end: Void = onThread("client") {
      var reader = try EventReader.open(port: port, path, credential)
      let deadline = Deadline("the end of a stream")
      while try reader.next() != nil { try deadline.check() }
    }
    try await until { api.changes.streams.count != 0 }
    try await action()
    try await end
    // The credential does not open it again.
    // Another process may know a token for two more seconds.
    try await until { try await request("HEAD", path, port: port, headers: credential).status != 200 }
    #expect(try await request("HEAD", path, port: port, headers: credential).status == 401, "\(path)")
    try await until { api.changes.streams.count == 0 }
  }

  @Test("a stream ends when its token is revoked or expires, in another process too, or its key is revoked")
  func revocation() async throws {
    try await UserClient.with { api in
      let minter = try await api.createKey("t5-minter", [.tokens])
      let post = try #require(
        try await request(
          "POST", "/v1/posts", port: api.port,
          headers: UserClient.backend + [("Content-Type", MultipartForm.moment().contentType)],
          body: MultipartForm.moment().bytes
        ).json["job"]["url"].text)
      for path in ["/v1/events", "\(post)/events"] {
        let revoked = try await api.token(of: "ada", minter: .key(minter))
        try await Self.expectEnd(path, revoked.header, api) {
          _ = try await api.pool.transaction { session in
            try Tokens.revoke(revoked.id, of: "ada", in: .all, session) { _ in }
          }
        }
        let expired = try await api.token(of: "ada", minter: .key(minter))
        try await Self.expectEnd(path, expired.header, api) {
          try await api.execute("UPDATE user_token SET expires_at = clock_timestamp() WHERE revoked_at IS NULL")
        }
        let number = try await api.createKey("t5-phone\(path.count)", [.read])
        let key = [("Authorization", "Bearer t5-phone\(path.count)"), ("Take5-User", "ada")]
        try await Self.expectEnd(path, key, api) { try await api.revoke(number) }
      }
      let token = try await api.token(of: "ada", minter: .key(minter))
      try await Self.expectEnd("/v1/events", token.header, api) { try await api.revoke(minter) }
    }
  }

  @Test("a stream of the console ends when its cookie does, with the keys that sign")
  func console() async throws {
    try await UserClient.with { api in
      _ = try await api.createKey("t5-console", [.admin, .read])
      let signedIn = try await UserClient.send("POST", "/console/session", [], #"{"key":"t5-console"}"#, api)
      let field = try #require(signedIn.headers["set-cookie"])
      let cookie = [("Take5-Console", "1"), ("Cookie", "\(field.prefix { $0 != ";" })"), ("Take5-User", "ada")]
      try await Self.expectEnd("/v1/events", cookie, api) {
        try await api.pool.transaction { try Keys.rotateSigningKeys(keepingOld: 0, $0) }
        try await api.access.refresh(api.pool)
      }
    }
  }

  @Test("a ticket opens one stream, as the client that got it")
  func ticket() async throws {
    try await UserClient.with { api in
      let minter = try await api.createKey("t5-minter", [.tokens])
      let token = try await api.token(of: "ada", minter: .key(minter))
      func ticket(_ credential: [(String, String)]) async throws -> String {
        let response = try await UserClient.send("POST", "/v1/events/tickets", credential, nil, api)
        #expect(response.status == 201)
        return try #require(response.json["ticket"].text)
      }
      @Sendable func path(_ ticket: String) -> String { "/v1/events?ticket=\(ticket)" }
      func refusal(_ ticket: String) async throws -> String? {
        let response = try await api.get(path(ticket))
        #expect(response.status == 403)
        return UserClient.kind(response)
      }
      for credential in [token.header, UserClient.backend + [("Take5-User", "ada")]] {
        let text = try await ticket(credential)
        let stored = try await api.pool.run { session in
          try session.execute(
            "SELECT count(*) FROM event_ticket WHERE event_ticket::text LIKE '%' || $1 || '%'", .text(text)
          )
          .single().get(0, as: Int.self)
        }
        #expect(stored == 0, "the ticket itself is stored")
        let port = api.port
        let first = try await onThread("client") {
          var reader = try EventReader.open(port: port, path(text), [])
          return try reader.next()?.name
        }
        #expect(first == "start")
        #expect(try await refusal(text) == "ticket_invalid")
      }
      #expect(try await refusal("t5e_unknown") == "ticket_invalid")
      let late = try await ticket(token.header)
      try await api.execute("UPDATE event_ticket SET expires_at = clock_timestamp()")
      #expect(try await refusal(late) == "ticket_invalid")
      let orphaned = try await ticket(token.header)
      _ = try await UserClient.send("DELETE", "/v1/tokens/current", token.header, nil, api)
      #expect(try await refusal(orphaned) == "ticket_invalid")
      let number = try await api.createKey("t5-short", [.read])
      let ofKey = try await ticket([("Authorization", "Bearer t5-short"), ("Take5-User", "ada")])
      try await api.revoke(number)
      #expect(try await refusal(ofKey) == "ticket_invalid")
      let none = try await UserClient.send("POST", "/v1/events/tickets", UserClient.backend, nil, api)
      #expect(UserClient.kind(none) == "user_required")
    }
  }

  @Test("a ticket opens the stream of a job of its user, once, from the event that the page has seen")
  func ticketOfJob() async throws {
    try await UserClient.with { api in
      let minter = try await api.createKey("t5-minter", [.tokens])
      let submitted = try await api.submit(.moment(), headers: UserClient.backend)
      let job = try #require(submitted.json["job"]["url"].text)
      func path(of user: String, _ query: String = "") async throws -> String {
        let token = try await api.token(of: user, minter: .key(minter))
        let response = try await UserClient.send("POST", "/v1/events/tickets", token.header, nil, api)
        return "\(job)/events?ticket=\(try #require(response.json["ticket"].text))\(query)"
      }
      let (port, own) = (api.port, try await path(of: "ada"))
      let first = try await onThread("client") {
        var reader = try EventReader.open(port: port, own, [])
        return try #require(try reader.next())
      }
      #expect(first.name == "progress" && first.data["state"] == .string("available"))
      #expect(UserClient.kind(try await api.get(own)) == "ticket_invalid")
      #expect(try await api.get(try await path(of: "eve")).status == 404)
      let resumed = try await path(of: "ada", "&last_event_id=\(first.id)")
      async let rest = onThread("client") {
        var reader = try EventReader.open(port: port, resumed, [])
        return try reader.next()?.name
      }
      try await until { api.changes.streams.count != 0 }
      try await WaitingTests.end(api)
      #expect(try await rest == "end")
    }
  }

  @Test("the stream of a ticket ends with the token that got it")
  func ticketRevocation() async throws {
    try await UserClient.with { api in
      let minter = try await api.createKey("t5-minter", [.tokens])
      let token = try await api.token(of: "ada", minter: .key(minter))
      let response = try await UserClient.send("POST", "/v1/events/tickets", token.header, nil, api)
      let path = "/v1/events?ticket=\(try #require(response.json["ticket"].text))"
      let port = api.port
      async let end: Void = onThread("client") {
        var reader = try EventReader.open(port: port, path, [])
        let deadline = Deadline("the end of a stream")
        while try reader.next() != nil { try deadline.check() }
      }
      try await until { api.changes.streams.count != 0 }
      _ = try await UserClient.send("DELETE", "/v1/tokens/current", token.header, nil, api)
      try await end
    }
  }
}
