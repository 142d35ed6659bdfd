import HTTPTesting
import Model
import Testing

@testable import Kit
@testable import Rooms

@Suite("JSON that clients keep", .tags(.database, .network), .timeLimit(.minutes(60)))
struct RevalidationTests {
  @Test("every GET of JSON has an entity tag, with which the next one is answered by 304 without a body")
  func operations() async throws {
    let table = try AccessTable()
    try await RunningAPI.with { api in
      let document = try await api.get("/openapi.json").json
      let fixture = try await AccessFixture(api, visibility: .private)
      for row in table.rows where row.method == "GET" && row.access != .token {
        let responses = document["paths"][row.template]["get"]["responses"]
        guard responses["200"]["content"].names.contains("application/json"), row.responses[.key]?.first == "200",
          row.template != "/openapi.json"
        else { continue }
        let sent = fixture.request(row, author: nil)
        let acting = row.responses[.keyAsAda]?.first == "200" ? [("Take5-User", "ada")] : []
        let first = try await api.get(sent.path, headers: sent.headers + acting)
        #expect(first.status == 200, "\(row.template)")
        guard responses.names.contains("304") else {
          #expect(first.headers["cache-control"] == "no-store", "\(row.template)")
          continue
        }
        #expect(first.headers["cache-control"] == "private, no-cache", "\(row.template)")
        let tag = try #require(first.headers["etag"], "\(row.template)")
        for method in ["GET", "HEAD"] {
          let second = try await request(
            method, sent.path, port: api.port, headers: acting + [("If-None-Match", "\"other\", W/\(tag)")])
          #expect(second.status == 304 && second.body.isEmpty, "\(method) \(row.template)")
          #expect(second.headers["etag"] == tag && second.headers["content-type"] == nil, "\(method) \(row.template)")
          #expect(second.headers["cache-control"] == "private, no-cache", "\(method) \(row.template)")
        }
        let other = try await api.get(sent.path, headers: acting + [("If-None-Match", "\"other\"")])
        #expect(other.status == 200 && other.body == first.body, "\(row.template)")
      }
    }
  }

  @Test("what others see has another tag, and what a client may not see is no 304")
  func viewers() async throws {
    try await UserClient.with { api in
      let path = try await UserClient.post(api, "friends")
      func get(_ path: String, _ user: String, _ tag: String = "\"none\"") async throws -> ClientResponse {
        let headers = UserClient.backend + [("Take5-User", user), ("If-None-Match", tag)]
        return try await UserClient.send("GET", path, headers, nil, api)
      }
      let own = try #require(try await get(path, "ada").headers["etag"])
      #expect(try await get(path, "ada", own).status == 304)
      #expect(try await get(path, "bob", own).status == 404)
      let list = "/v1/posts?visibility=friends"
      let listed = try #require(try await get(list, "ada").headers["etag"])
      #expect(try await get(list, "ada", listed).status == 304)
      #expect(try await get(list, "bob", listed).status == 200)
      #expect(try await get("\(list)&include=author", "ada", listed).status == 200)
      // A response to anything but GET is not kept, and neither is a problem.
      let changed = try await UserClient.send("PATCH", path, UserClient.backend, #"{"title":"There"}"#, api)
      #expect(changed.status == 200 && changed.headers["cache-control"] == "no-store")
      #expect(try await get(list, "ada", listed).status == 200)
    }
  }

  @Test("a comment changes the tag of the post and not its version")
  func version() async throws {
    try await UserClient.with { api in
      let path = try await UserClient.post(api)
      func get(_ tag: String) async throws -> ClientResponse {
        try await UserClient.send("GET", path, UserClient.backend + [("If-None-Match", tag)], nil, api)
      }
      func patch(_ tag: String) async throws -> ClientResponse {
        try await UserClient.send("PATCH", path, UserClient.backend + [("If-Match", tag)], #"{"title":"There"}"#, api)
      }
      let before = try #require(try await get("\"none\"").headers["etag"])
      let comment = #"{"author":"bob","text":"nice"}"#
      #expect(try await UserClient.send("POST", "\(path)/comments", UserClient.backend, comment, api).status == 201)
      let read = try await get(before)
      let after = try #require(read.headers["etag"])
      #expect(read.status == 200 && after != before)
      let version = try #require(before.split(separator: ".").first)
      #expect(after.hasPrefix("\(version)."))
      // Clients of earlier releases have tags without that of the JSON.
      for outdated in ["\"other\"", "W/\"other\"", "\(version)0\"", "\".\""] {
        #expect(try await patch(outdated).status == 412, "\(outdated)")
      }
      // A proxy that compresses makes the tag a weak one.
      let changed = try await patch("W/\(before)")
      #expect(changed.status == 200)
      #expect(try await get(try #require(changed.headers["etag"])).status == 304)
      #expect(try await patch(before).status == 412)
      let current = try #require(changed.headers["etag"]?.split(separator: ".").first)
      #expect(try await patch("\(current)\"").status == 200)
    }
  }
}
