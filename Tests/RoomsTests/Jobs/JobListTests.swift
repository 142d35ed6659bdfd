import Crypto
import HTTPTesting
import Model
import Postgres
import Queue
import Store
import Testing

@testable import Kit
@testable import Rooms

@Suite("Jobs for operators", .tags(.database, .network), .timeLimit(.minutes(60)))
struct JobListTests {
  /// Enqueues one job for each author; returns their ids in that order.
  private static func enqueue(_ api: RunningAPI, _ authors: [String]) async throws -> [String] {
    let jobs = authors.map { author in
      NewJob(
        publicID: .now(), queue: "media", kind: "post", maxAttempts: 1, deadlineSeconds: 60, author: author,
        arguments: Array("{}".utf8))
    }
    try await api.pool.run { session in for job in jobs { try JobQueue.enqueue(job, session) } }
    return jobs.map(\.publicID.description)
  }

  private static func ids(_ response: ClientResponse) -> [String] {
    response.json["items"].elements.compactMap { $0["id"].text }
  }

  @Test("jobs are listed newest first, by page and by filters")
  func pages() async throws {
    try await RunningAPI.with { api in
      let ids = try await Self.enqueue(api, ["ada", "bob", "ada", "ada", "bob"])
      let first = try await api.get("/v1/jobs?limit=2")
      #expect(Self.ids(first) == [ids[4], ids[3]])
      let second = try await api.get("/v1/jobs?limit=2&cursor=\(try #require(first.json["next"].text))")
      #expect(Self.ids(second) == [ids[2], ids[1]])
      let third = try await api.get("/v1/jobs?limit=2&cursor=\(try #require(second.json["next"].text))")
      #expect(Self.ids(third) == [ids[0]] && third.json["next"] == .null)
      #expect(Self.ids(try await api.get("/v1/jobs?author=bob&state=available&state=dead")) == [ids[4], ids[1]])
      #expect(Self.ids(try await api.get("/v1/jobs?id=\(ids[0])&id=\(ids[2])&queue=media")) == [ids[2], ids[0]])
      #expect(Self.ids(try await api.get("/v1/jobs?created_before=2020-01-01T00:00:00Z")) == [])
      #expect(Self.ids(try await api.get("/v1/jobs?finished_after=2020-01-01T00:00:00Z")) == [])
    }
  }

  @Test(
    "an invalid parameter is named in the errors",
    arguments: [
      ("limit=101", "limit"), ("state=done", "state"), ("created_after=2h", "created_after"), ("cursor=x", "cursor"),
      ("id=7", "id"), ("color=red", "color"), ("kind=a&kind=b", "kind"),
    ])
  func invalidParameters(query: String, field: String) async throws {
    try await RunningAPI.with { api in
      let response = try await api.get("/v1/jobs?\(query)")
      #expect(response.status == 400)
      #expect(response.json["errors"][0]["field"] == .string(field))
    }
  }

  @Test("a job is retried or cancelled only in states that allow it")
  func changing() async throws {
    try await RunningAPI.with { api in
      let ids = try await Self.enqueue(api, ["ada", "bob"])
      try await api.pool.run { session in
        let worker = try JobQueue.register(host: "here", process: 1, session)
        let claimed = try JobQueue.claim(worker: worker, queue: "media", limit: 1, session)
        _ = try JobQueue.fail(claimed[0], error: "disk full", session)
      }
      func post(_ path: String) async throws -> ClientResponse { try await request("POST", path, port: api.port) }
      #expect(try await api.get("/v1/jobs?error=DISK").json["items"][0]["error"] == .string("disk full"))
      #expect(try await post("/v1/jobs/\(ids[0])/cancel").status == 409)
      let retried = try await post("/v1/jobs/\(ids[0])/retry")
      #expect(retried.status == 200 && retried.json["state"] == .string("available"))
      let again = try await post("/v1/jobs/\(ids[0])/retry")
      #expect(again.status == 409 && again.json["type"] == .string("urn:take5:problem:wrong_job_state"))
      let cancelled = try await post("/v1/jobs/\(ids[1])/cancel")
      #expect(cancelled.status == 200 && cancelled.json["state"] == .string("cancelled"))
      #expect(try await post("/v1/jobs/\(PublicID.now())/cancel").status == 404)
      #expect(try await post("/v1/jobs/x/retry").status == 404)
    }
  }

  @Test("listing, retrying and cancelling need the scope admin")
  func scopes() async throws {
    try await RunningAPI.with { api in
      try await api.pool.run { session in
        for (key, scope) in [("t5-app", Set<Scope>([.read, .submit])), ("t5-operator", [.admin])] {
          _ = try Keys.insert(named: key, hash: SHA256.digest(of: Array(key.utf8)).bytes, scopes: scope, session)
        }
      }
      try await api.access.refresh(api.pool)
      let id = PublicID.now()
      for (method, path) in [("GET", "/v1/jobs"), ("POST", "/v1/jobs/\(id)/retry"), ("POST", "/v1/jobs/\(id)/cancel")] {
        func status(_ key: String) async throws -> Int {
          try await request(method, path, port: api.port, headers: [("Authorization", "Bearer \(key)")]).status
        }
        #expect(try await status("t5-app") == 403, "\(path)")
        #expect(try await status("t5-operator") == (method == "GET" ? 200 : 404), "\(path)")
      }
    }
  }
}
