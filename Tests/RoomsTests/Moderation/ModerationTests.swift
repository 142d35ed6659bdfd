import Crypto
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

@Suite("Moderation", .tags(.database, .network), .timeLimit(.minutes(60)))
struct ModerationTests {
  static let moderator = [("Authorization", "Bearer t5-moderator")]

  static func with(
    _ setting: RunningAPI.Setting = .init(), _ body: (RunningAPI) async throws -> Void
  ) async throws {
    try await UserClient.with(setting) { api in
      _ = try await api.createKey("t5-moderator", [.moderate])
      try await body(api)
    }
  }

  static func send(
    _ api: RunningAPI, _ method: String, _ path: String, as user: String? = nil, _ body: String? = nil
  ) async throws -> ClientResponse {
    try await UserClient.send(
      method, path, UserClient.backend + (user.map { [("Take5-User", $0)] } ?? []), body, api)
  }

  /// Decides about a subject as a moderator, such as `"post":"ID"`.
  @discardableResult
  static func decide(_ api: RunningAPI, _ subject: String, _ decision: String) async throws -> ClientResponse {
    let decided = try await UserClient.send(
      "POST", "/v1/moderation/cases", moderator, #"{\#(subject),"decision":"\#(decision)"}"#, api)
    #expect(decided.json["decision"].text == decision, "\(decided.text)")
    return decided
  }

  static func cases(_ api: RunningAPI, _ query: String = "") async throws -> [JSONValue] {
    try await UserClient.send("GET", "/v1/moderation/cases\(query)", moderator, nil, api).json["items"].elements
  }

  static func id(_ path: String) -> String { String(path.split(separator: "/").last ?? "") }

  @Test("a user reports what the user sees, and the same report again is the first one")
  func reports() async throws {
    try await Self.with { api in
      let post = Self.id(try await UserClient.post(api))
      let friends = Self.id(try await UserClient.post(api, "friends"))
      let comment = try await Self.send(api, "POST", "/v1/posts/\(post)/comments", as: "eve", #"{"text":"Buy!"}"#)
      let spam = try #require(comment.json["id"].text)
      func report(_ subject: String, as user: String = "bob", _ more: String = "") async throws -> ClientResponse {
        try await Self.send(api, "POST", "/v1/reports", as: user, #"{\#(subject),"reason":"spam"\#(more)}"#)
      }
      let first = try await report(#""post":"\#(post)""#, #","text":"Not nice""#)
      #expect(first.status == 201 && first.json["author"].text == "bob" && first.json["decided_at"] == .null)
      let path = try #require(first.headers["location"])
      #expect(try await Self.send(api, "GET", path, as: "bob").json["text"].text == "Not nice")
      #expect(try await Self.send(api, "GET", path, as: "eve").status == 404)
      let again = try await report(#""post":"\#(post)""#)
      #expect(again.status == 200 && again.json["id"] == first.json["id"] && again.json["text"].text == "Not nice")
      #expect(try await report(#""post":"\#(post)""#, as: "carl").status == 201)
      #expect(try await report(#""comment":"\#(spam)""#).status == 201)
      #expect(try await report(#""user":"eve""#).status == 201)
      // What bob does not see is not there.
      for hidden in [#""post":"\#(friends)""#, #""comment":"\#(PublicID.now())""#, #""user":"no one""#] {
        #expect(try await report(hidden).status == 404)
      }
      _ = try await Self.send(api, "PUT", "/v1/users/ada/blocks/dora", as: "ada")
      for unseen in [#""post":"\#(post)""#, #""comment":"\#(spam)""#, #""user":"ada""#] {
        #expect(try await report(unseen, as: "dora").status == 404)
      }
      for (wrong, field) in [
        (#"{"reason":"spam"}"#, "post"), (#"{"post":"\#(post)"}"#, "reason"), (#"{"post":1,"reason":"spam"}"#, "post"),
        (#"{"post":"\#(post)","user":"eve","reason":"spam"}"#, "post"), (#"{"user":"eve","reason":"x","by":1}"#, "by"),
      ] {
        let refused = try await Self.send(api, "POST", "/v1/reports", as: "bob", wrong)
        #expect(refused.status == 400 && refused.json["errors"][0]["field"].text == field, "\(refused.text)")
      }
      let cases = try await Self.cases(api)
      #expect(cases.map { $0["counts"]["reports"] } == [.number(1), .number(1), .number(2)])
      #expect(cases.allSatisfy { $0["cause"].text == "report" && $0["state"].text == "open" })
      #expect(cases.map { $0["author"].text } == ["eve", "eve", "ada"])
      #expect(cases[1]["url"].text == "/v1/posts/\(post)/comments/\(spam)")
      let found = try await UserClient.send(
        "GET", "/v1/moderation/cases/\(cases[2]["id"].text ?? "")", Self.moderator, nil, api)
      #expect(found.json["reports"].elements.map { $0["author"].text } == ["bob", "carl"])
      // A decision shows to who has reported, and closes the case: a later report opens another.
      try await Self.decide(api, #""post":"\#(post)""#, "approve")
      #expect(try await Self.send(api, "GET", path, as: "bob").json["decided_at"] != .null)
      let later = try await report(#""post":"\#(post)""#)
      #expect(later.status == 201 && later.json["id"] != first.json["id"])
      #expect(try await Self.cases(api, "?state=decided").count == 1)
      #expect(try await Self.cases(api).count == 3)
    }
  }

  @Test("a hidden post is there for its author alone, with its media, counts and places; approval restores it")
  func hiding() async throws {
    try await Self.with { api in
      let fixture = try await AccessFixture(api, visibility: .public)
      let post = "/v1/posts/\(fixture.post)"
      try await api.execute(
        "UPDATE post SET place_id = 'gate', place_latitude = 52.5, place_longitude = 13.4 WHERE public_id = '\(fixture.post)'"
      )
      func poster(as user: String) async throws -> String {
        let read = try await Self.send(api, "GET", post, as: user)
        return try #require(read.json["assets"]["poster"]["url"].text, "\(read.text)")
      }
      let url = try await poster(as: "bob")
      #expect(try await api.get(url).status == 200)
      func counts() async throws -> [Double?] {
        let user = try await Self.send(api, "GET", "/v1/users/ada", as: "bob").json["counts"]["posts"]
        let place = try await Self.send(api, "GET", "/v1/places/gate", as: "bob").json["counts"]["posts"]
        let sum: Int = try await api.pool.run { session in
          try session.execute("SELECT coalesce(sum(posts), 0)::int AS posts FROM map_activity").single().get("posts")
        }
        return [user, place].map { if case .number(let number) = $0 { number } else { nil } } + [Double(sum)]
      }
      let before = try await counts()
      #expect(before == [1, 1, 42])
      try await Self.decide(api, #""post":"\#(fixture.post)""#, "hide")
      #expect(try await counts() == [0, nil, 0])
      let feed = try await Self.send(api, "GET", "/v1/posts?author=ada", as: "bob")
      #expect(feed.json["items"].elements.isEmpty)
      for path in [
        post, "\(post)/comments", "\(post)/reactions", "/v1/images/\(fixture.reactions["ada"] ?? fixture.post)",
      ] {
        #expect(try await Self.send(api, "GET", path, as: "bob").status == 404, "\(path)")
      }
      // The URL that was public is none any more, for the author neither, who gets a signed one.
      for credential in [[], UserClient.backend + [("Take5-User", "bob")], UserClient.backend] {
        #expect(try await api.get(url, headers: credential).status == 404)
      }
      let own = try await Self.send(api, "GET", post, as: "ada")
      #expect(own.json["status"].text == "hidden")
      let signed = try await poster(as: "ada")
      #expect(signed.contains("signature="))
      #expect(try await api.get(signed).status == 200)
      #expect(try await api.get(String(signed.prefix { $0 != "?" })).status == 404)
      let reactions = try await Self.send(api, "GET", "\(post)/reactions", as: "ada").json["items"].elements
      #expect(reactions.count == 2)
      for reaction in reactions {
        #expect(reaction["assets"]["photo.medium"]["url"].text?.contains("signature=") == true)
      }
      let listed = try await Self.send(api, "GET", "/v1/posts?author=ada&status=hidden", as: "ada")
      #expect(listed.json["items"].elements.count == 1)
      // The author changes words, and stays hidden.
      #expect(
        try await Self.send(api, "PATCH", post, as: "ada", #"{"caption":"calm"}"#).json["status"].text == "hidden")
      try await Self.decide(api, #""post":"\#(fixture.post)""#, "approve")
      #expect(try await counts() == before)
      #expect(try await api.get(try await poster(as: "bob")).status == 200)
      let events = try await api.events(4, of: "ada", after: "0-0", with: UserClient.backend).map(\.name)
      #expect(events.contains("post_hidden") && events.contains("post_ready"), "\(events)")
    }
  }

  @Test("a post of a definition with hold waits for a decision, and again when its author changes the words")
  func holding() async throws {
    var setting = RunningAPI.Setting()
    setting.holdsMarkers = true
    try await Self.with(setting) { api in
      async let events = api.events(3, of: nil, path: "/v1/moderation/events", with: Self.moderator)
      try await until { api.changes.streams.count == 1 }
      let post = try await UserClient.post(api)
      #expect(try await Self.send(api, "GET", post, as: "ada").json["status"].text == "held")
      #expect(try await Self.send(api, "GET", post, as: "bob").status == 404)
      let opened = try #require(try await Self.cases(api).first)
      #expect(opened["cause"].text == "held" && opened["post"].text == Self.id(post))
      let decision = "/v1/moderation/cases/\(opened["id"].text ?? "")/decision"
      let approved = try await UserClient.send(
        "POST", decision, Self.moderator, #"{"decision":"approve","note":"fine"}"#, api)
      #expect(approved.status == 200 && approved.json["note"].text == "fine" && approved.json["decided_by"] != .null)
      #expect(try await Self.send(api, "GET", post, as: "bob").json["status"].text == "ready")
      // A back-end changes words that are shown at once; a change without new words is no reason.
      _ = try await Self.send(api, "PATCH", post, #"{"title":"There"}"#)
      _ = try await Self.send(api, "PATCH", post, as: "ada", #"{"visibility":"public"}"#)
      #expect(try await Self.send(api, "GET", post, as: "bob").status == 200)
      let changed = try await Self.send(api, "PATCH", post, as: "ada", #"{"caption":"Buy!"}"#)
      #expect(changed.json["status"].text == "held", "\(changed.text)")
      #expect(try await Self.send(api, "GET", post, as: "bob").status == 404)
      let again = try #require(try await Self.cases(api).first)
      #expect(again["id"] != opened["id"] && again["cause"].text == "held")
      let streamed = try await events
      #expect(streamed.map(\.name) == ["start", "case_opened", "case_opened"])
      #expect(streamed.dropFirst().map { $0.data["case"] } == [opened["id"], again["id"]])
      #expect(
        try await api.events(3, of: "ada", after: "0-0", with: UserClient.backend).map(\.name) == [
          "post_held", "post_ready", "post_held",
        ])
      // What a moderator has hidden is not held instead.
      try await Self.decide(api, #""post":"\#(Self.id(post))""#, "hide")
      let hidden = try await Self.send(api, "PATCH", post, as: "ada", #"{"caption":"Buy!!"}"#)
      #expect(hidden.json["status"].text == "hidden")
      #expect(try await Self.cases(api).isEmpty)
      // Other kinds are not held.
      let body = #"{"kind":"photo","author":"ada","title":"x"}"#
      #expect(try await Self.send(api, "POST", "/v1/posts", body).json["status"].text != "held")
    }
  }

  @Test("a suspended user is refused with each credential, wherever the user is named, until a moderator approves")
  func suspending() async throws {
    try await Self.with { api in
      let minter = try await api.createKey("t5-minter", [.tokens])
      let token = try await api.token(of: "eve", minter: .key(minter))
      let post = try await UserClient.post(api, by: "eve", "friends")
      let fixture = try await AccessFixture(api, visibility: .private)
      let poster = try await UserClient.send(
        "GET", "/v1/posts/\(fixture.post)", UserClient.backend + [("Take5-User", "ada")], nil, api)
      let signed = try #require(poster.json["assets"]["poster"]["url"].text)
      #expect(try await api.get(signed).status == 200)
      for user in ["eve", "ada"] { try await Self.decide(api, #""user":"\#(user)""#, "suspend") }
      // As the service does every two seconds.
      try await api.access.refresh(api.pool)
      let acting = UserClient.backend + [("Take5-User", "eve")]
      let refused = [
        try await request("GET", post, port: api.port, headers: token.header),
        try await request("GET", post, port: api.port, headers: acting),
        try await request("DELETE", "/v1/tokens/current", port: api.port, headers: token.header),
        try await api.get(signed),
        // Where a back-end names the user.
        try await Self.send(api, "POST", "/v1/posts", #"{"kind":"marker","title":"x","author":"eve"}"#),
        try await Self.send(api, "POST", "\(post)/comments", #"{"author":"eve","text":"Hm"}"#),
        try await Self.send(api, "POST", "/v1/users/eve/tokens", "{}"),
        try await Self.send(api, "PUT", "/v1/users/eve/likes/\(Self.id(post))"),
      ]
      for response in refused {
        #expect(response.status == 403 && UserClient.kind(response) == "user_suspended", "\(response.text)")
      }
      // The back-end itself, and others, go on; others may still relate to the user.
      #expect(try await Self.send(api, "GET", post).status == 200)
      #expect(try await Self.send(api, "PUT", "/v1/users/eve", #"{"name":"Eve"}"#).status == 200)
      #expect(try await Self.send(api, "PUT", "/v1/users/bob/blocks/eve", as: "bob").status == 200)
      try await Self.decide(api, #""user":"eve""#, "approve")
      try await api.access.refresh(api.pool)
      #expect(try await request("GET", post, port: api.port, headers: token.header).status == 200)
      #expect(try await api.get(signed).status == 403)
    }
  }

  @Test("of several decisions of a case the first holds: the same again succeeds, another does not")
  func decisions() async throws {
    try await Self.with { api in
      let post = Self.id(try await UserClient.post(api))
      let opened = try await UserClient.send(
        "POST", "/v1/moderation/cases", Self.moderator, #"{"post":"\#(post)"}"#, api)
      #expect(opened.status == 201 && opened.json["cause"].text == "moderator")
      let path = try #require(opened.headers["location"])
      func decide(_ decision: String) async throws -> ClientResponse {
        try await UserClient.send(
          "POST", "\(path)/decision", Self.moderator, #"{"decision":"\#(decision)"}"#, api)
      }
      let unfit = try await decide("suspend")
      #expect(unfit.status == 400 && unfit.json["errors"][0]["field"].text == "decision")
      // Moderators decide at once, half of them otherwise.
      let decided = try await withThrowingTaskGroup { group in
        for index in 0..<12 {
          group.addTask { try await decide(index % 2 == 0 ? "hide" : "approve") }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      let held = try #require(decided.first { $0.status == 200 }).json["decision"].text
      for response in decided {
        #expect(
          response.status == 200 ? response.json["decision"].text == held : UserClient.kind(response) == "case_decided")
      }
      #expect(decided.filter { $0.status == 200 }.count == 6)
      let status = try await Self.send(api, "GET", "/v1/posts/\(post)").json["status"].text
      #expect(status == (held == "hide" ? "hidden" : "ready"))
      #expect(try await Self.cases(api).isEmpty)
      // Who deletes the post ends its cases.
      #expect(try await Self.send(api, "DELETE", "/v1/posts/\(post)", as: "ada").status == 204)
      #expect(try await UserClient.send("GET", path, Self.moderator, nil, api).status == 404)
      #expect(try await decide("hide").status == 404)
    }
  }
}
