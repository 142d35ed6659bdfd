import Crypto
import HTTPTesting
import Model
import Postgres
import Queue
import Store
import Testing

@testable import Kit
@testable import Rooms

@Suite("Comments, changes and deletions", .tags(.database, .network), .timeLimit(.minutes(60)))
struct ChangeTests {
  private static func send(
    _ method: String, _ path: String, _ body: String, _ api: RunningAPI, headers: [(String, String)] = []
  ) async throws -> ClientResponse {
    try await request(
      method, path, port: api.port, headers: [("Content-Type", "application/json")] + headers, body: Array(body.utf8))
  }

  @Test("comments are counted in their post, listed newest first, and deleted")
  func comments() async throws {
    try await RunningAPI.with { api in
      let post = try await ListTests.post(api, at: "2026-11-20T01:00:00Z")
      var ids: [String] = []
      for text in ["one", "two", "three"] {
        let response = try await Self.send(
          "POST", "/v1/posts/\(post)/comments", #"{"author":"bob","text":"\#(text)"}"#, api)
        #expect(response.status == 201)
        ids.append(try #require(response.json["id"].text))
        let location = try #require(response.headers["location"])
        #expect(try await api.get(location).body == response.body)
        #expect(try await api.get(location.replacing(post, with: "\(PublicID.now())")).status == 404)
      }
      #expect(try await api.get("/v1/posts/\(post)").json["counts"]["comments"] == .number(3))
      let latest = try await api.get("/v1/posts/\(post)/comments?limit=1")
      #expect(latest.json["items"][0]["text"] == .string("three"))
      let rest = try await api.get("/v1/posts/\(post)/comments?cursor=\(try #require(latest.json["next"].text))")
      #expect(rest.json["items"][1]["text"] == .string("one"))
      let path = "/v1/posts/\(post)/comments/\(ids[1])"
      #expect(try await request("DELETE", path, port: api.port).status == 204)
      #expect(try await request("DELETE", path, port: api.port).status == 404)
      #expect(try await api.get("/v1/posts/\(post)").json["counts"]["comments"] == .number(2))
      let missing = try await Self.send(
        "POST", "/v1/posts/\(PublicID.now())/comments", #"{"author":"bob","text":"x"}"#, api)
      #expect(missing.status == 404)
      let invalid = try await Self.send("POST", "/v1/posts/\(post)/comments", #"{"author":"","mood":1}"#, api)
      #expect(invalid.status == 400)
      guard case .array(let errors) = invalid.json["errors"] else { return #expect(invalid.status == 400) }
      #expect(errors.compactMap { $0["field"].text } == ["author", "text", "mood"])
    }
  }

  @Test("fields of a post can be changed, and removed while a caption or a title is left")
  func patch() async throws {
    try await RunningAPI.with { api in
      let post = try await ListTests.post(api, at: "2026-11-20T01:00:00Z", place: "lake")
      let path = "/v1/posts/\(post)"
      let changed = try await Self.send(
        "PATCH", path,
        #"{"caption":"calm","visibility":"friends","place":{"id":"p2","coordinate":{"latitude":1,"longitude":2}}}"#,
        api)
      #expect(changed.status == 200)
      #expect(changed.json["caption"] == .string("calm"))
      #expect(changed.json["visibility"] == .string("friends"))
      #expect(changed.json["place"]["coordinate"]["longitude"] == .number(2))
      #expect(changed.json["title"] == .string("2026-11-20T01:00:00Z"))
      // A merge patch names what changes in the place too; nothing of another place stays.
      let named = try await Self.send("PATCH", path, #"{"place":{"id":"p2","name":"Pier"}}"#, api)
      #expect(
        named.json["place"]["name"].text == "Pier" && named.json["place"]["coordinate"]["longitude"] == .number(2))
      let unnamed = try await Self.send("PATCH", path, #"{"place":{"id":"p2","name":null}}"#, api)
      #expect(unnamed.json["place"]["name"] == .null && unnamed.json["place"]["coordinate"]["longitude"] == .number(2))
      let other = try await Self.send("PATCH", path, #"{"place":{"id":"p3","name":"Quay"}}"#, api)
      #expect(other.json["place"]["name"].text == "Quay" && other.json["place"]["coordinate"] == .null)
      let without = try await Self.send("PATCH", path, #"{"title":null,"place":null}"#, api)
      #expect(without.json["title"] == .null && without.json["place"] == .null)
      #expect(try await Self.send("PATCH", path, #"{"caption":null}"#, api).status == 400)
      #expect(try await Self.send("PATCH", path, #"{"author":"eve"}"#, api).status == 400)
      #expect(try await Self.send("PATCH", "/v1/posts/\(PublicID.now())", "{}", api).status == 404)
      let text = try await request("PATCH", path, port: api.port, headers: [("Content-Type", "text/plain")], body: [1])
      #expect(text.status == 415)
    }
  }

  @Test("deleting a post deletes its media and comments, and a running worker publishes nothing")
  func deleteWhileRunning() async throws {
    try await RunningAPI.with { api in
      let post = try #require(try await api.submit(.moment()).json["id"].text)
      let store = api.store
      let (job, work) = try await api.pool.transaction { session in
        let worker = try JobQueue.register(host: "test", process: 1, session)
        let job = try #require(try JobQueue.claim(worker: worker, queue: PostJob.queue, limit: 1, session).first)
        return (job, try #require(try store.work(for: job, session)))
      }
      #expect(try await request("DELETE", "/v1/posts/\(post)", port: api.port).status == 204)
      #expect(try await api.get("/v1/posts/\(post)").status == 404)
      await #expect(throws: (any Error).self) {
        try await api.pool.transaction { session in
          try store.publish(
            [], of: work, recipe: SHA256.digest(of: []), job: job,
            verdict: Verdict(reasons: [], inputs: [:], decisions: []), seconds: 1, session)
        }
      }
      #expect(try await api.storedCount() == 0)
      let heartbeat = try await api.pool.run { session in
        try JobQueue.heartbeat(worker: 1, holding: [(id: job.id, token: job.token)], session)
      }
      #expect(heartbeat.cancelled == [job.token])
      #expect(try await request("DELETE", "/v1/posts/\(post)", port: api.port).status == 404)
    }
  }

  @Test("deleting a profile image also deletes one that is being processed")
  func deleteProfile() async throws {
    try await RunningAPI.with { api in
      let path = "/v1/users/ada/profile-image"
      #expect(try await request("DELETE", path, port: api.port).status == 404)
      let put = try await request(
        "PUT", path, port: api.port, headers: [("Content-Type", "image/jpeg")], body: PhotoSubmissionTests.jpeg)
      #expect(put.status == 202)
      #expect(try await request("DELETE", path, port: api.port).status == 204)
      #expect(try await api.storedCount() == 0)
      let job = try await api.get(try #require(put.json["job"]["url"].text))
      #expect(job.json["state"] == .string("cancelled"))
    }
  }
}
