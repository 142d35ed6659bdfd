import HTTPTesting
import Model
import Postgres
import Testing

@testable import Kit
@testable import Rooms

@Suite("Changes of comments", .tags(.database, .network), .timeLimit(.minutes(60)))
struct CommentChangeTests {
  @Test(
    "the author changes the text of a comment, and other users do not",
    arguments: ["post", "place", "collection"])
  func change(kind: String) async throws {
    try await UserClient.with { api in
      var subject = "/v1/places/lake"
      switch kind {
      case "post": subject = try await UserClient.post(api)
      case "place": _ = try await UserClient.send(api, "PUT", subject, as: "ada", #"{"name":"Lake"}"#)
      default:
        _ = try await UserClient.send(api, "PUT", "/v1/users/bob", as: "bob", "{}")
        let created = try await UserClient.send(
          api, "POST", "/v1/collections", as: "ada", #"{"kind":"itinerary","name":"Trip"}"#)
        subject = try #require(created.headers["location"])
        let shared = try await UserClient.send(api, "PUT", "\(subject)/members/bob", as: "ada", #"{"role":"viewer"}"#)
        #expect(shared.status == 204)
      }
      let submitted = try await UserClient.send(api, "POST", "\(subject)/comments", as: "bob", #"{"text":"Hm"}"#)
      let path = try #require(submitted.headers["location"])
      #expect(submitted.json["edited_at"] == .null)
      let read = try await UserClient.send(api, "GET", path, as: "ada")
      let version = try #require(read.headers["etag"])
      let condition = [("If-Match", version)]
      let same = try await UserClient.send(api, "PATCH", path, as: "bob", #"{"text":"Hm"}"#, condition)
      #expect(same.status == 200 && same.json == read.json)
      let changed = try await UserClient.send(api, "PATCH", path, as: "bob", #"{"text":"Ah"}"#, condition)
      #expect(changed.status == 200 && changed.json["text"].text == "Ah" && changed.json["edited_at"].text != nil)
      #expect(changed.headers["etag"] != version)
      #expect(changed.json["created_at"] == read.json["created_at"])
      #expect(try await UserClient.send(api, "GET", path, as: "ada").json == changed.json)
      #expect(try await UserClient.send(api, "PATCH", path, as: "bob", #"{"text":"Oh"}"#, condition).status == 412)
      // Who may delete it need not change it.
      let refused = try await UserClient.send(api, "PATCH", path, as: "ada", #"{"text":"No"}"#)
      #expect(refused.status == 403 && UserClient.kind(refused) == "not_yours")
      for wrong in [#"{"text":""}"#, "{}", #"{"text":"x","author":"bob"}"#] {
        #expect(try await UserClient.send(api, "PATCH", path, as: "bob", wrong).status == 400, "\(wrong)")
      }
      #expect(try await UserClient.send(api, "PATCH", path, as: nil, #"{"text":"So"}"#).status == 200)
      #expect(try await UserClient.send(api, "GET", path, as: "ada").json["text"].text == "So")
      #expect(try await UserClient.send(api, "DELETE", path, as: "bob").status == 204)
      let gone = try await UserClient.send(api, "PATCH", path, as: "bob", #"{"text":"x"}"#)
      #expect(gone.status == 404 && UserClient.kind(gone) == "comment_not_found")
    }
  }

  @Test("a comment that a moderator has hidden stays so when its author changes it")
  func hidden() async throws {
    try await UserClient.with { api in
      let post = try await UserClient.post(api)
      let path = try #require(
        try await UserClient.send(api, "POST", "\(post)/comments", as: "bob", #"{"text":"Hm"}"#).headers["location"])
      try await api.execute("UPDATE comment SET is_hidden = true")
      #expect(
        try await UserClient.send(api, "PATCH", path, as: "bob", #"{"text":"Ah"}"#).json["hidden"] == .boolean(true))
      #expect(try await UserClient.send(api, "GET", path, as: "ada").status == 404)
    }
  }
}
