import HTTPTesting
import Model
import Postgres
import Queue
import Testing

@testable import Kit
@testable import Rooms

/// Retrying and cancelling the jobs of a filter over HTTP.
@Suite("Changes of many jobs", .tags(.database, .network), .timeLimit(.minutes(60)))
struct JobBatchTests {
  /// Runs a test with three dead jobs, one of them of Bob, and two that are available.
  private static func with(_ body: (RunningAPI) async throws -> Void) async throws {
    try await RunningAPI.with { api in
      try await api.pool.run { session in
        func enqueue(_ authors: [String]) throws {
          for author in authors {
            try JobQueue.enqueue(
              NewJob(
                publicID: .now(), queue: "media", kind: "post", maxAttempts: 1, deadlineSeconds: 60, author: author,
                arguments: Array("{}".utf8)), session)
          }
        }
        try enqueue(["ada", "bob", "ada"])
        let worker = try JobQueue.register(host: "here", process: 1, session)
        for job in try JobQueue.claim(worker: worker, queue: "media", limit: 3, session) {
          _ = try JobQueue.fail(job, error: "disk full", session)
        }
        try enqueue(["ada", "bob"])
      }
      try await body(api)
    }
  }

  private static func change(_ body: String, _ api: RunningAPI) async throws -> ClientResponse {
    try await UserClient.send("POST", "/v1/operations/jobs", [], body, api)
  }

  private static func count(_ states: Set<JobState>, _ api: RunningAPI) async throws -> Int {
    try await api.pool.run { try JobQueue.count(JobFilter(states: states), $0) }
  }

  private static func numbers(_ response: ClientResponse) -> [JSONValue] {
    [response.json["matched"], response.json["changed"]]
  }

  @Test("a request leaves the rest to a further one, and what dies or comes after a dry run to another change")
  func agreed() async throws {
    try await Self.with { api in
      let trial = try await Self.change(#"{"action":"retry","filter":{},"limit":2,"dry_run":true}"#, api)
      #expect(Self.numbers(trial) == [.number(3), .number(2)] && trial.json["remaining"] == .number(1))
      let before = try #require(trial.json["before"].text)
      // One dies that existed before, and one comes.
      try await api.pool.run { session in
        let worker = try JobQueue.register(host: "here", process: 2, session)
        for job in try JobQueue.claim(worker: worker, queue: "media", limit: 1, session) {
          _ = try JobQueue.fail(job, error: "disk full", session)
        }
      }
      #expect(try await Self.count([.dead], api) == 4)
      func retry() async throws -> ClientResponse {
        try await Self.change(#"{"action":"retry","filter":{},"limit":2,"before":"\#(before)"}"#, api)
      }
      let (first, second, third) = (try await retry(), try await retry(), try await retry())
      #expect(Self.numbers(first) == [.number(3), .number(2)] && first.json["remaining"] == .number(1))
      #expect(Self.numbers(second) == [.number(1), .number(1)] && second.json["remaining"] == .number(0))
      #expect(Self.numbers(third) == [.number(0), .number(0)] && third.json["before"].text == before)
      #expect(try await Self.count([.dead], api) == 1)
      let all = try await Self.change(#"{"action":"cancel","filter":{},"limit":10001}"#, api)
      #expect(all.status == 400)
    }
  }

  @Test("a dry run counts, and changes nothing; the same request then changes what it counted")
  func dryRun() async throws {
    try await Self.with { api in
      let trial = try await Self.change(
        #"{"action":"retry","filter":{"error":"DISK"},"limit":2,"dry_run":true}"#, api)
      #expect(trial.status == 200 && Self.numbers(trial) == [.number(3), .number(2)])
      #expect(try await Self.count([.dead], api) == 3)
      let done = try await Self.change(#"{"action":"retry","filter":{"error":"DISK"},"limit":2}"#, api)
      #expect(done.status == 200 && Self.numbers(done) == [.number(3), .number(2)])
      #expect(try await Self.count([.dead], api) == 1)
      #expect(try await Self.count([.available], api) == 4)
    }
  }

  @Test("a filter without states selects the states that the action is for")
  func states() async throws {
    try await Self.with { api in
      let retried = try await Self.change(#"{"action":"retry","filter":{"author":"bob"},"limit":null}"#, api)
      #expect(Self.numbers(retried) == [.number(1), .number(1)])
      let cancelled = try await Self.change(#"{"action":"cancel","filter":{}}"#, api)
      #expect(Self.numbers(cancelled) == [.number(3), .number(3)])
      #expect(try await Self.count([.cancelled], api) == 3)
      #expect(try await Self.count([.dead], api) == 2)
      let none = try await Self.change(
        #"{"action":"cancel","filter":{"state":["available","executing"],"queue":"media","kind":"post"}}"#, api)
      #expect(Self.numbers(none) == [.number(0), .number(0)])
      let old = try await Self.change(
        #"{"action":"retry","filter":{"created_before":"2020-01-01T00:00:00Z"},"dry_run":true}"#, api)
      #expect(Self.numbers(old) == [.number(0), .number(0)])
      let recent = try await Self.change(
        #"{"action":"retry","filter":{"created_after":"2020-01-01T00:00:00Z"},"dry_run":true}"#, api)
      #expect(Self.numbers(recent) == [.number(2), .number(2)])
    }
  }

  @Test(
    "an invalid request changes nothing, and names the field",
    arguments: [
      (#"{"filter":{}}"#, "action"), (#"{"action":"drop","filter":{}}"#, "action"), (#"{"action":"cancel"}"#, "filter"),
      (#"{"action":"cancel","filter":{"state":["dead"]}}"#, "filter.state"),
      (#"{"action":"retry","filter":{"state":["completed"]}}"#, "filter.state"),
      (#"{"action":"retry","filter":{"id":"7"}}"#, "filter.id"),
      (#"{"action":"retry","filter":{},"limit":0}"#, "limit"),
    ])
  func invalid(body: String, field: String) async throws {
    try await Self.with { api in
      let refused = try await Self.change(body, api)
      #expect(refused.status == 400 && refused.json["errors"][0]["field"] == .string(field))
      #expect(try await Self.count([.dead], api) == 3)
      #expect(try await Self.count([.available], api) == 2)
    }
  }
}
