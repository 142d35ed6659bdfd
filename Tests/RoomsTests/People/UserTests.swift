import HTTPTesting
import Model
import Testing

@testable import Kit
@testable import Rooms

@Suite("Users", .tags(.database, .network), .timeLimit(.minutes(60)))
struct UserTests {
  private static let profile = """
    {"user_name":"Ada.L","name":"Ada Lovelace","given_name":"Ada","family_name":"Lovelace","bio":"Numbers",
    "birth_date":"1815-12-10","email":"ada@example.com"}
    """.replacing("1815", with: "1985")

  private static func send(
    _ method: String, _ path: String, as user: String? = nil, _ body: String?, _ headers: [(String, String)] = [],
    _ api: RunningAPI
  ) async throws -> ClientResponse {
    let credential = UserClient.backend + (user.map { [("Take5-User", $0)] } ?? []) + headers
    return try await UserClient.send(method, path, credential, body, api)
  }

  private static func get(_ path: String, as user: String? = nil, _ api: RunningAPI) async throws -> ClientResponse {
    try await send("GET", path, as: user, nil, [], api)
  }

  private static func put(_ path: String, as user: String? = nil, _ body: String, _ api: RunningAPI) async throws
    -> ClientResponse
  {
    try await send("PUT", path, as: user, body, [], api)
  }

  @Test("users are read by their ids in one request, except users who do not exist or have blocked the client")
  func bulk() async throws {
    try await UserClient.with { api in
      for user in ["eve", "ada", "bob"] { _ = try await Self.put("/v1/users/\(user)", #"{"name":"\#(user)"}"#, api) }
      _ = try await Self.send("PUT", "/v1/users/eve/blocks/bob", as: "eve", nil, [], api)
      func ids(_ query: String, as user: String? = nil) async throws -> [String] {
        guard case .array(let items) = try await Self.get("/v1/users?" + query, as: user, api).json["items"] else {
          return ["none"]
        }
        return items.compactMap { $0["id"].text }
      }
      #expect(try await ids("id=eve&id=dan&id=ada&id=eve") == ["ada", "eve"])
      #expect(try await ids("id=eve&id=ada", as: "bob") == ["ada"])
      #expect(try await ids("id=dan") == [])
      for (wrong, field) in [
        ("", "query"), ("id=ada&query=ada", "query"), ("id=ada&limit=1", "limit"), ("id=", "id"),
        (String(repeating: "id=a&", count: 101), "id"),
      ] {
        let response = try await Self.get("/v1/users?" + wrong, api)
        #expect(response.status == 400 && response.json["errors"][0]["field"] == .string(field), "\(wrong)")
      }
    }
  }

  @Test("a profile is replaced as a whole; birth date and e-mail address are for the user and for a client without one")
  func profiles() async throws {
    try await UserClient.with { api in
      let unknown = try await Self.get("/v1/users/ada", api)
      #expect(unknown.status == 404 && UserClient.kind(unknown) == "user_not_found")
      let saved = try await Self.put("/v1/users/ada", as: "ada", Self.profile, api)
      #expect(saved.status == 200 && saved.json["user_name"] == .string("Ada.L"))
      for (viewer, isShown) in [(nil, true), ("ada", true), ("bob", false)] {
        let user = try await Self.get("/v1/users/ada", as: viewer, api).json
        #expect(user["birth_date"] == (isShown ? .string("1985-12-10") : .null))
        #expect(user["email"] == (isShown ? .string("ada@example.com") : .null))
        #expect((user["email_verified"] == .null) == !isShown)
        #expect(user["name"] == .string("Ada Lovelace") && user["bio"] == .string("Numbers"))
        #expect(user["relation"] == .null && user["profile_image"] == .object([:]))
      }
      let refused = try await Self.put("/v1/users/ada", as: "bob", "{}", api)
      #expect(refused.status == 403 && UserClient.kind(refused) == "not_yours")
      // A user name that is given up is another's: only null does so.
      let forgotten = try await Self.put("/v1/users/ada", #"{"name":"Ada"}"#, api)
      #expect(forgotten.status == 400 && forgotten.json["errors"].elements.map { $0["field"].text } == ["user_name"])
      #expect(try await Self.get("/v1/users/ada", api).json["name"] == .string("Ada Lovelace"))
      let replaced = try await Self.put("/v1/users/ada", #"{"name":"Ada","user_name":null}"#, api)
      #expect(replaced.json["name"] == .string("Ada") && replaced.json["user_name"] == .null)
      #expect(replaced.json["email"] == .null && replaced.json["bio"] == .null)
    }
  }

  @Test("a patch changes the members that it names, null erases one, and two patches at once both hold")
  func patches() async throws {
    try await UserClient.with { api in
      let path = "/v1/users/ada"
      func patch(_ body: String, as user: String? = "ada", _ headers: [(String, String)] = []) async throws
        -> ClientResponse
      {
        try await Self.send("PATCH", path, as: user, body, headers, api)
      }
      // As with PUT, a user need not be known.
      #expect(try await patch(#"{"user_name":"Ada.L"}"#, [("If-Match", "*")]).status == 412)
      #expect(try await patch(#"{"user_name":"Ada.L"}"#).status == 200)
      #expect(try await Self.put(path, as: "ada", Self.profile, api).status == 200)
      let changed = try await patch(#"{"bio":null,"name":"Ada"}"#)
      let expected = try await Self.get(path, as: "ada", api)
      #expect(
        changed.status == 200 && changed.json == expected.json && changed.headers["etag"] == expected.headers["etag"])
      #expect(changed.json["bio"] == .null && changed.json["name"].text == "Ada")
      #expect(changed.json["user_name"].text == "Ada.L" && changed.json["email"].text == "ada@example.com")
      #expect(changed.json["birth_date"].text == "1985-12-10" && changed.json["given_name"].text == "Ada")
      let merge = try await request(
        "PATCH", path, port: api.port,
        headers: UserClient.backend + [("Content-Type", "application/merge-patch+json")], body: Array("{}".utf8))
      #expect(merge.status == 200 && merge.json["email"].text == "ada@example.com")
      let version = try #require(merge.headers["etag"])
      #expect(try await patch(#"{"bio":"Notes"}"#, as: nil, [("If-Match", version)]).status == 200)
      #expect(try await patch(#"{"bio":"Late"}"#, as: nil, [("If-Match", version)]).status == 412)
      #expect(try await patch("{}", as: "bob").status == 403)
      let wrong = try await patch(#"{"age":3,"email":"a@b@c"}"#)
      #expect(wrong.status == 400 && wrong.json["errors"].elements.count == 2)
      try await withThrowingTaskGroup(of: Int.self) { group in
        for member in ["name", "given_name", "family_name", "bio"] {
          group.addTask {
            try await Self.send("PATCH", "/v1/users/eve", as: "eve", #"{"\#(member)":"x"}"#, [], api).status
          }
        }
        for try await status in group { #expect(status == 200) }
      }
      let eve = try await Self.get("/v1/users/eve", api).json
      #expect(["name", "given_name", "family_name", "bio"].allSatisfy { eve[$0].text == "x" })
    }
  }

  @Test("a user name is unique without regard to case")
  func taken() async throws {
    try await UserClient.with { api in
      #expect(try await Self.put("/v1/users/ada", Self.profile, api).status == 200)
      let taken = try await Self.put("/v1/users/eve", #"{"user_name":"aDA.l"}"#, api)
      #expect(taken.status == 409 && UserClient.kind(taken) == "user_name_taken")
      #expect(try await Self.get("/v1/users/eve", api).status == 404)
      // The user keeps it, and may change its case.
      #expect(try await Self.put("/v1/users/ada", #"{"user_name":"ADA.L"}"#, api).status == 200)
      #expect(try await Self.put("/v1/users/ada", #"{"user_name":"ada"}"#, api).status == 200)
      #expect(try await Self.put("/v1/users/eve", #"{"user_name":"Ada.L"}"#, api).status == 200)
    }
  }

  @Test("a change with If-Match needs the current version")
  func conditions() async throws {
    try await UserClient.with { api in
      func put(_ version: String) async throws -> ClientResponse {
        try await Self.send("PUT", "/v1/users/ada", "{}", [("If-Match", version)], api)
      }
      for version in ["*", #""0""#, #""-1""#] { #expect(try await put(version).status == 412) }
      let first = try #require(
        try await Self.put("/v1/users/ada", "{}", api).headers["etag"])
      let changed = try await put(first)
      #expect(changed.status == 200 && changed.headers["etag"] != first)
      #expect(try await put(first).status == 412)
      #expect(try await Self.get("/v1/users/ada", api).headers["etag"] == changed.headers["etag"])
    }
  }

  @Test("every invalid field is named")
  func invalid() async throws {
    try await UserClient.with { api in
      let body = """
        {"user_name":"a b","name":1,"birth_date":"2001-02-29","email":"a@b@c","bio":"\(String(repeating: "x", count: 5001))",
        "age":3}
        """
      let refused = try await Self.put("/v1/users/ada", body, api)
      #expect(refused.status == 400 && UserClient.kind(refused) == "invalid_fields")
      #expect(
        Set(refused.json["errors"].elements.compactMap { $0["field"].text })
          == ["age", "bio", "birth_date", "email", "name", "user_name"])
      for field in [
        #""user_name":"""#, #""user_name":"\#(String(repeating: "a", count: 31))""#, #""user_name":"é""#,
        #""birth_date":"1899-01-01""#, #""birth_date":"2001-13-01""#, #""birth_date":"2001-1-1""#,
        #""birth_date":"2101-01-01""#, #""email":"@b""#,
        #""email":"a b@c""#, #""email":"a@\u0301b@c""#, "\"email\":\"a@\(String(repeating: "b", count: 253))\"",
      ] {
        #expect(try await Self.put("/v1/users/ada", "{\(field)}", api).status == 400, "\(field)")
      }
    }
  }

  @Test("an author is a user without a profile, and the count of posts has the posts that the viewer sees")
  func counts() async throws {
    try await UserClient.with { api in
      for visibility in ["public", "friends", "friends", "private"] {
        _ = try await UserClient.post(api, by: "ada", visibility)
      }
      func posts(_ viewer: String?) async throws -> JSONValue {
        try await Self.get("/v1/users/ada", as: viewer, api).json["counts"]["posts"]
      }
      _ = try await Self.put("/v1/users/bob", "{}", api)
      _ = try await Self.send("PUT", "/v1/users/ada/friends/bob", nil, [], api)
      _ = try await Self.send("PUT", "/v1/users/bob/friends/ada", nil, [], api)
      #expect(try await [posts(nil), posts("ada")] == [.number(4), .number(4)])
      #expect(try await [posts("bob"), posts("eve")] == [.number(3), .number(1)])
      let list = try await Self.get("/v1/posts?visibility=private", api).json["items"][0]["id"].text
      let path = "/v1/posts/\(try #require(list))"
      #expect(try await Self.send("PATCH", path, #"{"visibility":"public"}"#, [], api).status == 200)
      #expect(try await [posts("bob"), posts("eve")] == [.number(4), .number(2)])
      #expect(try await Self.send("DELETE", path, nil, [], api).status == 204)
      #expect(try await [posts(nil), posts("eve")] == [.number(3), .number(1)])
    }
  }

  @Test("users are found by the beginning of the user name and of names, with typing errors and without accents")
  func search() async throws {
    try await UserClient.with { api in
      for (id, user, name) in [
        ("1", "ada", "Ada Lovelace"), ("2", "adam", "Adam Smith"), ("3", "juergen", "Jürgen Müller"),
        ("4", "grace", "Grace Hopper"), ("5", "x_1", "Adele"),
      ] {
        let body = #"{"user_name":"\#(user)","name":"\#(name)"}"#
        #expect(try await Self.put("/v1/users/\(id)", body, api).status == 200)
      }
      func found(_ query: String, _ limit: Int = 10) async throws -> [String?] {
        let path = "/v1/users?query=\(query)&limit=\(limit)"
        return try await Self.get(path, api).json["items"].elements.map { $0["id"].text }
      }
      #expect(try await found("ad") == ["1", "2", "5"])
      #expect(try await found("AD", 1) == ["1"])
      #expect(try await found("jurgen")[0] == "3")
      #expect(try await found("muler") == ["3"])
      #expect(try await found("lovelase") == ["1"])
      #expect(try await found("hopp") == ["4"])
      #expect(try await found("x_") == ["5"])
      #expect(try await [found("%25"), found("_")] == [[], []])
      for query in [
        "", "?query=", "?query=a&query=b", "?query=a&limit=101", "?query=\(String(repeating: "a", count: 201))",
      ] {
        let refused = try await Self.get("/v1/users\(query)", api)
        #expect(refused.status == 400 && UserClient.kind(refused) == "invalid_query", "\(query)")
      }
    }
  }
}
