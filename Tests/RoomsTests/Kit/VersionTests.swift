import HTTPTesting
import Testing

@testable import Kit
@testable import Rooms

@Suite("Versions of a post", .tags(.database, .network), .timeLimit(.minutes(60)))
struct VersionTests {
  private static func send(
    _ method: String, _ path: String, _ body: String = "", _ api: RunningAPI, ifMatch: String?
  ) async throws -> ClientResponse {
    let headers = [("Content-Type", "application/json")] + (ifMatch.map { [("If-Match", $0)] } ?? [])
    return try await request(method, path, port: api.port, headers: headers, body: Array(body.utf8))
  }

  @Test("a change with an outdated If-Match has no effect")
  func change() async throws {
    try await RunningAPI.with { api in
      let path = "/v1/posts/\(try await ListTests.post(api, at: "2026-11-20T01:00:00Z"))"
      let first = try #require(try await api.get(path).headers["etag"])
      #expect(try await api.get(path).headers["etag"] == first)
      let changed = try await Self.send("PATCH", path, #"{"caption":"calm"}"#, api, ifMatch: first)
      #expect(changed.status == 200)
      let second = try #require(changed.headers["etag"])
      #expect(second != first)
      #expect(try await api.get(path).headers["etag"] == second)
      let late = try await Self.send("PATCH", path, #"{"caption":"wild"}"#, api, ifMatch: first)
      #expect(late.status == 412)
      #expect(late.headers["content-type"] == "application/problem+json")
      #expect(try await api.get(path).json["caption"] == .string("calm"))
      // A proxy that compresses the record makes its tag weak.
      for tag in ["\(first), \(second)", "*", second, "W/\(second)"] {
        #expect(try await Self.send("PATCH", path, "{}", api, ifMatch: tag).status == 200, "\(tag)")
      }
      #expect(try await Self.send("PATCH", path, "{}", api, ifMatch: "W/\(first)").status == 412)
      #expect(try await Self.send("PATCH", path, #"{"caption":"free"}"#, api, ifMatch: nil).status == 200)
    }
  }

  @Test("a comment does not change the version of a post")
  func comment() async throws {
    try await RunningAPI.with { api in
      let path = "/v1/posts/\(try await ListTests.post(api, at: "2026-11-20T01:00:00Z"))"
      let tag = try #require(try await api.get(path).headers["etag"])
      let comment = #"{"author":"bob","text":"nice"}"#
      #expect(try await Self.send("POST", "\(path)/comments", comment, api, ifMatch: nil).status == 201)
      #expect(try await Self.send("PATCH", path, #"{"caption":"calm"}"#, api, ifMatch: tag).status == 200)
    }
  }

  @Test("the version changes when a post becomes ready")
  func ready() async throws {
    try await RunningAPI.with { api in
      let response = try await api.submit(.moment())
      let path = try #require(response.headers["location"])
      let tag = try #require(try await api.get(path).headers["etag"])
      try await WaitingTests.end(api)
      #expect(try await api.get(path).headers["etag"] != tag)
      #expect(try await Self.send("PATCH", path, #"{"caption":"calm"}"#, api, ifMatch: tag).status == 412)
    }
  }

  @Test("a deletion with an outdated If-Match deletes nothing and cancels no job")
  func deletion() async throws {
    try await RunningAPI.with { api in
      let response = try await api.submit(.moment())
      let path = try #require(response.headers["location"])
      let tag = try #require(try await api.get(path).headers["etag"])
      #expect(try await Self.send("PATCH", path, #"{"caption":"calm"}"#, api, ifMatch: tag).status == 200)
      #expect(try await Self.send("DELETE", path, "", api, ifMatch: tag).status == 412)
      let job = try await api.get(try #require(response.json["job"]["url"].text))
      #expect(job.json["state"] == .string("available"))
      let now = try #require(try await api.get(path).headers["etag"])
      #expect(try await Self.send("DELETE", path, "", api, ifMatch: now).status == 204)
      #expect(try await api.get(path).status == 404)
    }
  }
}
