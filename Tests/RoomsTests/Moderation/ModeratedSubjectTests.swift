import Crypto
import HTTPTesting
import Model
import Platform
import Postgres
import PostgresTesting
import Store
import Testing

@testable import Kit
@testable import Rooms

/// What else than posts is hidden and restored.
@Suite("Moderation of comments, places, images and collections", .tags(.database, .network), .timeLimit(.minutes(60)))
struct ModeratedSubjectTests {
  @Test("a hidden comment is there for its author alone, and does not count")
  func comments() async throws {
    try await ModerationTests.with { api in
      let post = try await UserClient.post(api)
      var comments: [String] = []
      for author in ["bob", "eve"] {
        let comment = try await ModerationTests.send(api, "POST", "\(post)/comments", as: author, #"{"text":"Hm"}"#)
        comments.append(try #require(comment.json["id"].text))
      }
      func count() async throws -> JSONValue {
        try await ModerationTests.send(api, "GET", post).json["counts"]["comments"]
      }
      func listed(as user: String?) async throws -> [JSONValue] {
        try await ModerationTests.send(api, "GET", "\(post)/comments", as: user).json["items"].elements
      }
      try await ModerationTests.decide(api, #""comment":"\#(comments[0])""#, "hide")
      try await ModerationTests.decide(api, #""comment":"\#(comments[0])""#, "hide")
      #expect(try await count() == .number(1))
      for (user, number) in [("ada", 1), ("bob", 2), ("eve", 1)] {
        #expect(try await listed(as: user).count == number)
      }
      #expect(try await listed(as: nil).map { $0["hidden"] } == [.boolean(false), .boolean(true)])
      #expect(try await ModerationTests.send(api, "GET", "\(post)/comments/\(comments[0])", as: "ada").status == 404)
      try await ModerationTests.decide(api, #""comment":"\#(comments[0])""#, "approve")
      #expect(try await count() == .number(2))
      try await ModerationTests.decide(api, #""comment":"\#(comments[1])""#, "hide")
      #expect(try await ModerationTests.send(api, "DELETE", "\(post)/comments/\(comments[1])", as: "eve").status == 204)
      #expect(try await count() == .number(1))
      // Its cases are gone with it.
      let decided = try await ModerationTests.cases(api, "?state=decided")
      #expect(decided.count == 3 && decided.allSatisfy { $0["comment"].text == comments[0] })
    }
  }

  @Test("a place is reported and hidden from all users, and approval restores it")
  func places() async throws {
    try await ModerationTests.with { api in
      #expect(
        try await ModerationTests.send(api, "PUT", "/v1/places/gate", as: "carl", #"{"name":"Gold"}"#).status == 200)
      let path = "/v1/places/gate"
      _ = try await ModerationTests.send(api, "POST", "\(path)/comments", as: "bob", #"{"text":"No"}"#)
      let report = #"{"place":"gate","reason":"spam"}"#
      #expect(try await ModerationTests.send(api, "POST", "/v1/reports", as: "bob", report).status == 201)
      let again = try await ModerationTests.send(api, "POST", "/v1/reports", as: "bob", report)
      #expect(again.status == 200 && again.json["place"].text == "gate" && again.json["post"] == .null)
      let unknown = try await ModerationTests.send(
        api, "POST", "/v1/reports", as: "bob", #"{"place":"door","reason":"spam"}"#)
      #expect(unknown.status == 404 && UserClient.kind(unknown) == "place_not_found")
      let opened = try #require(try await ModerationTests.cases(api).first)
      #expect(opened["place"].text == "gate" && opened["url"].text == path && opened["author"].text == "carl")
      try await ModerationTests.decide(api, #""place":"gate""#, "hide")
      for user in ["bob", "carl"] {
        for (method, path, body) in [
          ("GET", path, nil), ("PUT", path, #"{"name":"Gold"}"#), ("GET", "\(path)/comments", nil),
          ("POST", "\(path)/comments", #"{"text":"No"}"#), ("GET", "\(path)/users", nil),
          ("POST", "/v1/reports", report),
        ] as [(String, String, String?)] {
          #expect(try await ModerationTests.send(api, method, path, as: user, body).status == 404, "\(method) \(path)")
        }
        for list in ["/v1/places", "/v1/places?id=gate", "/v1/places?sort=saves"] {
          #expect(try await ModerationTests.send(api, "GET", list, as: user).json["items"].elements.isEmpty, "\(list)")
        }
      }
      #expect(try await ModerationTests.send(api, "GET", path).status == 200)
      #expect(try await ModerationTests.send(api, "PUT", path, #"{"name":"Gate"}"#).status == 200)
      try await ModerationTests.decide(api, #""place":"gate""#, "approve")
      #expect(try await ModerationTests.send(api, "GET", path, as: "bob").json["name"].text == "Gate")
      #expect(try await ModerationTests.send(api, "GET", "/v1/places", as: "bob").json["items"].elements.count == 1)
      let wrong = try await UserClient.send(
        "POST", "/v1/moderation/cases", ModerationTests.moderator, #"{"place":"gate","decision":"suspend"}"#, api)
      #expect(wrong.status == 400)
    }
  }

  @Test("images of each kind are reported and hidden from all but their authors, with their media, and restored")
  func images() async throws {
    try await ModerationTests.with { api in
      let fixture = try await AccessFixture(api, visibility: .public)
      try await api.execute("UPDATE post SET reaction_count = 2")
      let reaction = try #require(fixture.reactions["ada"])
      func image(_ kind: String) async throws -> String {
        try await api.pool.run { session in
          try session.execute(
            "SELECT public_id::text FROM image WHERE kind = $1 ORDER BY id LIMIT 1", .text(kind)
          ).single().get(0)
        }
      }
      /// What Bob sees: the reactions, their number, the profile image, the photo of the place, the thumbnail.
      func seen() async throws -> [Int] {
        let post = try await ModerationTests.send(api, "GET", "/v1/posts/\(fixture.post)", as: "bob").json
        let reactions = try await ModerationTests.send(api, "GET", "/v1/posts/\(fixture.post)/reactions", as: "bob")
          .json["items"]
        let user = try await ModerationTests.send(api, "GET", "/v1/users/ada", as: "bob").json
        let place = try await ModerationTests.send(api, "GET", "/v1/places/\(fixture.place)", as: "bob").json
        let photos = try await ModerationTests.send(api, "GET", "/v1/places/\(fixture.place)/photos", as: "bob").json[
          "items"]
        let thumbnail = try await ModerationTests.send(
          api, "GET", "/v1/itineraries/\(fixture.place)/thumbnail", as: "bob")
        let avatar = try await ModerationTests.send(api, "GET", "/v1/users/ada/profile-image", as: "bob")
        let count: Int = if case .number(let number) = post["counts"]["reactions"] { Int(number) } else { -1 }
        return [
          reactions.elements.count, count, user["profile_image"].names.count, avatar.status, place["photo"].names.count,
          photos.elements.count, thumbnail.status,
        ]
      }
      let before = try await seen()
      for (kind, after) in [
        ("reaction", [1, 1, 1, 200, 1, 1, 200]), ("profile", [2, 2, 0, 404, 1, 1, 200]),
        ("place", [2, 2, 1, 200, 0, 0, 200]), ("itinerary", [2, 2, 1, 200, 1, 1, 404]),
      ] {
        let id = kind == "reaction" ? "\(reaction)" : try await image(kind)
        let shown = try await ModerationTests.send(api, "GET", "/v1/images/\(id)", as: "bob").json
        let url = try #require(shown["assets"][shown["assets"].names.first ?? ""]["url"].text)
        #expect(try await api.get(url).status == 200)
        let reported = try await ModerationTests.send(
          api, "POST", "/v1/reports", as: "bob", #"{"image":"\#(id)","reason":"spam"}"#)
        #expect(reported.status == 201 && reported.json["image"].text == id, "\(reported.text)")
        let opened = try #require(try await ModerationTests.cases(api).first)
        #expect(opened["url"].text == "/v1/images/\(id)" && opened["author"].text == "ada")
        for _ in 0..<2 { try await ModerationTests.decide(api, #""image":"\#(id)""#, "hide") }
        #expect(try await seen() == after, "\(kind)")
        #expect(try await ModerationTests.send(api, "GET", "/v1/images/\(id)", as: "bob").status == 404)
        #expect(try await api.get(url).status == 404)
        let own = try await ModerationTests.send(api, "GET", "/v1/images/\(id)", as: "ada").json
        let signed = try #require(own["assets"][own["assets"].names.first ?? ""]["url"].text)
        #expect(signed.contains("signature=") && signed.hasPrefix(url))
        #expect(try await api.get(signed).status == 200)
        try await ModerationTests.decide(api, #""image":"\#(id)""#, "approve")
        #expect(try await seen() == before, "\(kind)")
        #expect(try await api.get(url).status == 200)
      }
      // A hidden reaction that its author deletes is not counted twice.
      try await ModerationTests.decide(api, #""image":"\#(reaction)""#, "hide")
      let deleted = try await ModerationTests.send(
        api, "DELETE", "/v1/posts/\(fixture.post)/reactions/\(reaction)", as: "ada")
      #expect(deleted.status == 204)
      #expect(try await seen().prefix(2) == [1, 1])
      let missing = try await ModerationTests.send(
        api, "POST", "/v1/reports", as: "bob", #"{"image":"\#(reaction)","reason":"spam"}"#)
      #expect(missing.status == 404 && UserClient.kind(missing) == "image_not_found")
    }
  }

  @Test("a collection is reported by a member and hidden from all but its author, and approval restores it")
  func collections() async throws {
    try await ModerationTests.with { api in
      for user in ["ada", "bob", "eve"] {
        _ = try await ModerationTests.send(api, "PUT", "/v1/users/\(user)", as: user, "{}")
      }
      let trip = #"{"kind":"itinerary","name":"Buy gold","items":[{"place":"gate"}]}"#
      let created = try await ModerationTests.send(api, "POST", "/v1/collections", as: "ada", trip)
      let path = try #require(created.headers["location"])
      let id = ModerationTests.id(path)
      let report = #"{"collection":"\#(id)","reason":"spam"}"#
      #expect(try await ModerationTests.send(api, "POST", "/v1/reports", as: "bob", report).status == 404)
      #expect(
        try await ModerationTests.send(api, "PUT", "\(path)/members/bob", as: "ada", #"{"role":"editor"}"#).status
          == 204)
      let invitation = #"{"role":"viewer","invite":true}"#
      #expect(try await ModerationTests.send(api, "PUT", "\(path)/members/eve", as: "ada", invitation).status == 204)
      #expect(try await ModerationTests.send(api, "POST", "/v1/reports", as: "bob", report).status == 201)
      let link = try #require(try await ModerationTests.send(api, "POST", "\(path)/link", as: "ada").json["url"].text)
      let opened = try #require(try await ModerationTests.cases(api).first)
      #expect(opened["collection"].text == id && opened["url"].text == path && opened["author"].text == "ada")
      try await ModerationTests.decide(api, #""collection":"\#(id)""#, "hide")
      #expect(try await ModerationTests.send(api, "GET", path, as: "bob").status == 404)
      for inner in ["comments", "members", "activity"] {
        #expect(try await ModerationTests.send(api, "GET", "\(path)/\(inner)", as: "bob").status == 404, "\(inner)")
      }
      func accept() async throws -> Int {
        try await ModerationTests.send(api, "PUT", "\(path)/members/eve", as: "eve", #"{"state":"accepted"}"#).status
      }
      let invited = try await ModerationTests.send(api, "GET", "/v1/collections?state=invited", as: "eve").json["items"]
      #expect(invited.elements.isEmpty)
      #expect(try await accept() == 404)
      #expect(try await ModerationTests.send(api, "GET", "/v1/collections", as: "bob").json["items"].elements.isEmpty)
      #expect(try await api.get(link).status == 401)
      #expect(try await ModerationTests.send(api, "GET", path, as: "ada").status == 200)
      #expect(try await ModerationTests.send(api, "GET", path).status == 200)
      try await ModerationTests.decide(api, #""collection":"\#(id)""#, "approve")
      #expect(try await ModerationTests.send(api, "GET", path, as: "bob").json["role"].text == "editor")
      #expect(try await api.get(link).status == 200)
      #expect(try await accept() == 204)
    }
  }
}
