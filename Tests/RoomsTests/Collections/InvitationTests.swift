import HTTPTesting
import Model
import Postgres
import Testing

@testable import Kit
@testable import Rooms

@Suite("Invitations to collections", .tags(.database, .network), .timeLimit(.minutes(60)))
struct InvitationTests {
  /// A collection of Ada's; Ada, Bob and Eve are users.
  private struct Trip {
    let api: RunningAPI
    let path: String

    init(_ api: RunningAPI) async throws {
      self.api = api
      path = try await CollectionTests.create(api)
    }

    func put(_ user: String, as acting: String, _ body: String?, _ query: String = "") async throws -> Int {
      try await CollectionTests.send(api, "PUT", "\(path)/members/\(user)\(query)", as: acting, body).status
    }

    func read(as user: String, _ suffix: String = "") async throws -> ClientResponse {
      try await CollectionTests.send(api, "GET", path + suffix, as: user)
    }

    /// The states of the members and their number.
    func members() async throws -> [String] {
      let members = try await read(as: "ada", "/members").json["items"].elements
      let count = try await read(as: "ada").json["counts"]["members"]
      return members.map { "\($0["user"].text ?? "") \($0["role"].text ?? "") \($0["state"].text ?? "")" } + [
        "\(count)"
      ]
    }

    func listed(as user: String, _ query: String = "") async throws -> [String] {
      try await CollectionTests.send(api, "GET", "/v1/collections\(query)", as: user).json["items"].elements.map {
        "\($0["role"].text ?? "") \($0["membership"]["role"].text ?? "-") \($0["membership"]["state"].text ?? "-")"
      }
    }
  }

  @Test("who has declined is asked again, also after the author has removed the membership")
  func removed() async throws {
    try await UserClient.with { api in
      let trip = try await Trip(api)
      #expect(try await trip.put("bob", as: "ada", #"{"role":"viewer","invite":true}"#) == 204)
      #expect(try await trip.put("bob", as: "bob", #"{"state":"declined"}"#) == 204)
      #expect(try await CollectionTests.send(api, "DELETE", "\(trip.path)/members/bob", as: "ada").status == 204)
      #expect(try await trip.put("bob", as: "ada", #"{"role":"viewer"}"#) == 204)
      #expect(try await trip.members() == ["bob viewer invited", "\(JSONValue.number(0))"])
    }
  }

  @Test("an invited user sees the collection, is no member before accepting, and the author learns of the answer")
  func accepted() async throws {
    try await UserClient.with { api in
      let trip = try await Trip(api)
      #expect(try await trip.put("bob", as: "ada", #"{"role":"editor","invite":true}"#) == 204)
      #expect(try await trip.put("bob", as: "ada", #"{"role":"editor","invite":true}"#) == 204)
      #expect(try await trip.members() == ["bob editor invited", "\(JSONValue.number(0))"])
      #expect(try await [trip.listed(as: "bob"), trip.listed(as: "bob", "?role=editor")] == [[], []])
      #expect(try await trip.listed(as: "bob", "?state=invited&role=editor") == ["invited editor invited"])
      #expect(try await trip.listed(as: "bob", "?state=invited&role=viewer&role=author") == [])
      #expect(try await trip.listed(as: "ada", "?state=invited") == [])
      let seen = try await trip.read(as: "bob")
      #expect(seen.json["role"].text == "invited" && seen.json["items"].elements.count == 1)
      for inner in ["/members", "/activity", "/comments"] {
        #expect(try await trip.read(as: "bob", inner).status == 404, "\(inner)")
      }
      let change = try await CollectionTests.send(
        api, "PATCH", trip.path, as: "bob", #"{"name":"x"}"#, version: seen.headers["etag"])
      #expect(change.status == 403)
      // Others cannot answer.
      for user in ["ada", "eve"] {
        #expect(try await trip.put("bob", as: user, #"{"state":"accepted"}"#) == (user == "ada" ? 403 : 404))
      }
      for _ in 0..<2 { #expect(try await trip.put("bob", as: "bob", #"{"state":"accepted"}"#) == 204) }
      #expect(try await trip.members() == ["bob editor accepted", "\(JSONValue.number(1))"])
      #expect(try await trip.listed(as: "bob") == ["editor editor accepted"])
      #expect(try await trip.read(as: "bob", "/members").status == 200)
      let events = try await api.events(1, of: "bob", after: "0-0", with: UserClient.backend)
      #expect(events.map(\.name) == ["collection_shared"] && events[0].data["state"].text == "invited")
      let answers = try await api.events(1, of: "ada", after: "0-0", with: UserClient.backend)
      #expect(answers.map(\.name) == ["invitation_accepted"] && answers[0].data["user"].text == "bob")
      #expect(answers[0].data["collection"].text.map { trip.path.hasSuffix($0) } == true)
      let activity = try await trip.read(as: "ada", "/activity").json["items"].elements
      #expect(activity.compactMap { $0["kind"].text } == ["accepted", "viewed", "viewed", "invited", "created"])
    }
  }

  @Test("who has declined is no member, is asked again and not added, may still accept, and leaves for good")
  func declined() async throws {
    try await UserClient.with { api in
      let trip = try await Trip(api)
      #expect(try await trip.put("bob", as: "ada", #"{"role":"viewer","invite":true}"#) == 204)
      #expect(try await trip.put("bob", as: "bob", #"{"state":"declined"}"#) == 204)
      #expect(try await trip.members() == ["bob viewer declined", "\(JSONValue.number(0))"])
      #expect(try await trip.listed(as: "bob", "?state=declined") == ["invited viewer declined"])
      // Direct sharing does not add who was asked.
      #expect(try await trip.put("bob", as: "ada", #"{"role":"editor"}"#) == 204)
      #expect(try await trip.members() == ["bob editor invited", "\(JSONValue.number(0))"])
      #expect(try await trip.put("bob", as: "ada", #"{"role":"viewer"}"#) == 204)
      #expect(try await trip.members() == ["bob viewer invited", "\(JSONValue.number(0))"])
      #expect(try await trip.put("bob", as: "bob", nil) == 204)
      #expect(try await trip.members() == ["bob viewer accepted", "\(JSONValue.number(1))"])
      // A guest cancels, and comes after all.
      for (state, count) in [("declined", 0), ("accepted", 1)] {
        #expect(try await trip.put("bob", as: "bob", #"{"state":"\#(state)"}"#) == 204)
        #expect(try await trip.members() == ["bob viewer \(state)", "\(JSONValue.number(Double(count)))"])
      }
      #expect(try await trip.put("bob", as: "bob", #"{"state":"declined"}"#) == 204)
      #expect(
        try await CollectionTests.send(api, "DELETE", "\(trip.path)/members/bob", as: "bob").status == 204)
      #expect(try await trip.members() == ["\(JSONValue.number(0))"])
      #expect(try await trip.put("bob", as: "bob", #"{"state":"accepted"}"#) == 404)
      let names = try await api.events(5, of: "ada", after: "0-0", with: UserClient.backend).map(\.name)
      #expect(
        names == [
          "invitation_declined", "invitation_accepted", "invitation_declined", "invitation_accepted",
          "invitation_declined",
        ])
    }
  }

  @Test("sharing without a question adds a user as before, and the answer to nothing is refused")
  func direct() async throws {
    try await UserClient.with { api in
      let trip = try await Trip(api)
      #expect(try await trip.put("bob", as: "ada", #"{"role":"viewer"}"#) == 204)
      #expect(try await trip.put("bob", as: "ada", #"{"role":"editor","invite":true}"#) == 204)
      #expect(try await trip.members() == ["bob editor accepted", "\(JSONValue.number(1))"])
      for body in [
        nil, "{}", #"{"invite":true}"#, #"{"state":"invited"}"#, #"{"state":"accepted","role":"viewer"}"#,
        #"{"role":"viewer","invite":"yes"}"#,
      ] {
        // An own collection cannot be joined.
        #expect(try await trip.put("eve", as: "ada", body) == 400, "\(body ?? "-")")
      }
      #expect(try await trip.put("ada", as: "ada", nil) == 404)
      #expect(try await trip.put("eve", as: "eve", nil) == 404)
      // A reader was not asked.
      _ = try await CollectionTests.send(
        api, "PATCH", trip.path, as: "ada", #"{"visibility":"public"}"#, version: "*")
      for body in [nil, #"{"state":"accepted"}"#, #"{"state":"declined"}"#] {
        #expect(try await trip.put("eve", as: "eve", body) == 403, "\(body ?? "-")")
      }
      #expect(try await CollectionTests.send(api, "PUT", "\(trip.path)/members/eve", nil).status == 400)
    }
  }

  @Test(
    "a user joins by the link without a body, and accepts with it the role of an invitation", arguments: [nil, "{}"])
  func link(body: String?) async throws {
    try await UserClient.with { api in
      let trip = try await Trip(api)
      #expect(try await trip.put("bob", as: "ada", #"{"role":"editor","invite":true}"#) == 204)
      let url = try #require(
        try await CollectionTests.send(api, "POST", "\(trip.path)/link", as: "ada").json["url"].text)
      let query = "?" + (url.split(separator: "?").last ?? "")
      for user in ["bob", "eve"] { #expect(try await trip.put(user, as: user, body, query) == 204) }
      #expect(
        try await trip.members() == ["bob editor accepted", "eve viewer accepted", "\(JSONValue.number(2))"])
      #expect(try await trip.put("bob", as: "eve", body, query) == 403)
    }
  }

  @Test("a kind with consent has no members who were not asked")
  func consent() async throws {
    let definition = #"""
      {"name":"event","version":1,"fields":{},"consent":true,"items":{"of":"place","max":5,"fields":{}}}
      """#
    let kind = try JSON.decode(CollectionDefinition.self, from: Array(definition.utf8))
    var setting = RunningAPI.Setting()
    setting.collections = [kind.name: kind]
    try await UserClient.with(setting) { api in
      for user in ["ada", "bob"] { _ = try await CollectionTests.send(api, "PUT", "/v1/users/\(user)", as: user, "{}") }
      let created = try await CollectionTests.send(
        api, "POST", "/v1/collections", as: "ada", #"{"kind":"event","name":"Party"}"#)
      let member = try #require(created.headers["location"]) + "/members/bob"
      func put(_ body: String) async throws -> Int {
        try await CollectionTests.send(api, "PUT", member, as: "ada", body).status
      }
      #expect(try await put(#"{"role":"viewer","invite":false}"#) == 400)
      #expect(try await put(#"{"role":"viewer"}"#) == 204)
      let invited = try await CollectionTests.send(api, "GET", "/v1/collections?state=invited", as: "bob").json["items"]
      #expect(invited.elements.map { $0["name"].text } == ["Party"])
    }
  }

  @Test("comments reach members who have accepted, and a block ends an invitation")
  func audience() async throws {
    try await UserClient.with { api in
      let trip = try await Trip(api)
      for (user, state) in [("bob", "accepted"), ("eve", "declined")] {
        #expect(try await trip.put(user, as: "ada", #"{"role":"viewer","invite":true}"#) == 204)
        #expect(try await trip.put(user, as: user, #"{"state":"\#(state)"}"#) == 204)
      }
      _ = try await CollectionTests.send(api, "POST", "\(trip.path)/comments", as: "ada", #"{"text":"When?"}"#)
      _ = try await Events.dispatch(api.pool)
      let receivers = try await api.pool.run { session in
        try session.execute("SELECT user_id FROM user_event WHERE kind = 'collection_comment' ORDER BY 1")
          .map { try $0.get(0, as: String.self) }
      }
      #expect(receivers == ["bob"])
      _ = try await CollectionTests.send(api, "PUT", "/v1/users/eve/blocks/ada", as: "eve")
      #expect(try await trip.read(as: "eve").status == 404)
      #expect(try await trip.put("eve", as: "eve", #"{"state":"accepted"}"#) == 404)
      #expect(try await trip.put("eve", as: "ada", #"{"role":"viewer","invite":true}"#) == 404)
      #expect(try await trip.listed(as: "eve", "?state=declined") == [])
    }
  }
}
