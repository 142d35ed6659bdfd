import HTTPTesting
import Model
import Testing

@testable import Kit
@testable import Rooms

@Suite("The app's own places", .tags(.database, .network), .timeLimit(.minutes(60)))
struct OwnPlaceTests {
  @Test("its author alone describes it, and a back-end; what posts say of it does not count")
  func describing() async throws {
    try await UserClient.with { api in
      let tree = #"{"name":"Tree","coordinate":{"latitude":47.6,"longitude":9.4},"categories":["shade"]}"#
      let key = [("Idempotency-Key", "tree")]
      let created = try await UserClient.send(api, "POST", "/v1/places", as: "ada", tree, key)
      let path = try #require(created.headers["location"])
      let id = try #require(created.json["id"].text)
      #expect(created.status == 201 && path == "/v1/places/\(id)")
      #expect(created.json["author"].text == "ada" && created.json["own"] == .boolean(true))
      #expect(created.json["name"].text == "Tree" && created.json["coordinate"]["longitude"] == .number(9.4))
      #expect(try await UserClient.send(api, "POST", "/v1/places", as: "ada", tree, key).json["id"].text == id)
      #expect(try await UserClient.send(api, "GET", path, as: "bob").json == created.json)
      let near = try await UserClient.send(api, "GET", "/v1/places?near=9.4,47.6&radius=100", as: "bob").json["items"]
      #expect(near.elements.map { $0["id"].text } == [id])
      let refused = try await UserClient.send(api, "PUT", path, as: "bob", #"{"name":"Stump"}"#)
      #expect(refused.status == 403 && UserClient.kind(refused) == "not_yours")
      for user in ["bob", "eve", "ada"] {
        let place = #"{"id":"\#(id)","name":"Stump","coordinate":{"latitude":0,"longitude":0}}"#
        let post = #"{"kind":"marker","title":"Here","place":\#(place)}"#
        #expect(try await UserClient.send(api, "POST", "/v1/posts", as: user, post).status == 201)
      }
      let seen = try await UserClient.send(api, "GET", path, as: "bob")
      #expect(seen.json["name"].text == "Tree" && seen.json["counts"]["posts"] == .number(3))
      let version = try #require(seen.headers["etag"])
      let oak = #"{"name":"Oak","coordinate":{"latitude":47.6,"longitude":9.5}}"#
      let changed = try await UserClient.send(api, "PUT", path, as: "ada", oak, [("If-Match", version)])
      #expect(changed.status == 200 && changed.json["name"].text == "Oak")
      #expect(changed.json["coordinate"]["longitude"] == .number(9.5) && changed.json["categories"] == .array([]))
      let named = try await UserClient.send(api, "PUT", path, #"{"name":"The oak"}"#).json
      #expect(named["name"].text == "The oak" && named["coordinate"]["longitude"] == .number(9.5))
      #expect(try await UserClient.send(api, "PUT", path, as: "ada", oak).json["name"].text == "The oak")
      for wrong in ["{}", #"{"name":""}"#, #"{"name":"x","id":"y"}"#] {
        #expect(try await UserClient.send(api, "POST", "/v1/places", as: "ada", wrong).status == 400, "\(wrong)")
      }
      #expect(try await UserClient.send(api, "PUT", "/v1/places/lake", as: "ada", tree).json["own"] == .boolean(false))
    }
  }

  @Test("a back-end's own place is for back-ends to describe")
  func ofBackend() async throws {
    try await UserClient.with { api in
      let path = try #require(
        try await UserClient.send(api, "POST", "/v1/places", #"{"name":"Hut"}"#).headers["location"])
      #expect(try await UserClient.send(api, "PUT", path, as: "ada", #"{"name":"x"}"#).status == 403)
      #expect(try await UserClient.send(api, "PUT", path, #"{"name":"Cabin"}"#).json["name"].text == "Cabin")
    }
  }
}
