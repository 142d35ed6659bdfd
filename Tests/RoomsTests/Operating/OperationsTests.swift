import Crypto
import FoundationEssentials
import HTTPTesting
import Model
import Platform
import Postgres
import PostgresTesting
import Queue
import Store
import Testing

@testable import Kit
@testable import Rooms

/// What operators watch over HTTP.
@Suite("Operations", .tags(.database, .network), .timeLimit(.minutes(60)))
struct OperationsTests {
  private static func job(_ kind: String = "post", delay: Double = 0) -> NewJob {
    NewJob(
      publicID: .now(), queue: "media", kind: kind, delay: delay, maxAttempts: 1, deadlineSeconds: 60, author: "ada",
      arguments: Array("{}".utf8))
  }

  @Test("the state has the queue by state, what ended, the workers, and the errors of dead jobs")
  func overview() async throws {
    try await RunningAPI.with { api in
      try await api.pool.run { session in
        for _ in 0..<5 { try JobQueue.enqueue(Self.job(), session) }
        let worker = try JobQueue.register(host: "here", process: 7, slots: 6, session)
        let claimed = try JobQueue.claim(worker: worker, queue: "media", limit: 5, session)
        _ = try JobQueue.fail(claimed[0], error: "disk full\nat once", session)
        try session.transaction { try JobQueue.complete(claimed[1], .accepted, result: nil, $0) }
        try session.transaction { try JobQueue.complete(claimed[2], .accepted, result: nil, $0) }
        try session.transaction { try JobQueue.complete(claimed[3], .rejected, result: nil, $0) }
        for delay in [0, 0, 600.0] { try JobQueue.enqueue(Self.job("image", delay: delay), session) }
        let cancelled = Self.job("image")
        try JobQueue.enqueue(cancelled, session)
        _ = try JobQueue.cancel(cancelled.publicID, session)
      }
      let body = #"{"kind":"marker","title":"Here","author":"ada"}"#
      for _ in 0..<3 { _ = try await UserClient.send("POST", "/v1/posts", [], body, api) }
      try await api.execute(
        """
        UPDATE post SET status = 'rejected',
          reasons = '[{"code":"corrupt_video","detail":"a"},{"code":"corrupt_video","detail":"b"},{"code":"too_large","detail":"c"}]'
        WHERE id IN (SELECT id FROM post ORDER BY id LIMIT 1)
        """)
      try await api.execute(
        """
        UPDATE post SET status = 'rejected', reasons = '[{"code":"corrupt_video","detail":"a"}]'
        WHERE id IN (SELECT id FROM post ORDER BY id OFFSET 1 LIMIT 1)
        """)
      let response = try await api.get("/v1/operations")
      #expect(response.status == 200)
      let state = response.json
      #expect(
        state.names == [
          "at", "history_at", "queues", "last_hour", "last_day", "minutes", "times", "workers", "reasons", "errors",
          "storage",
        ])
      #expect(state["at"].text.flatMap { JSON.date(from: $0) } != nil)
      let queues = state["queues"].elements.map { row in
        let names = ["queue", "kind", "state"].compactMap { row[$0].text }
        return names.joined(separator: " ") + " \(Int(Self.number(row["jobs"])))"
      }
      #expect(
        queues == [
          "media image available 2", "media image scheduled 1", "media post dead 1", "media post executing 1",
        ])
      #expect(
        state["queues"][0].names == ["queue", "kind", "state", "jobs", "oldest_seconds", "attempts", "lost"])
      for name in ["last_hour", "last_day"] {
        let rows = state[name].elements
        #expect(rows.map { $0["kind"].text } == ["image", "post"], "\(name)")
        #expect(["accepted", "rejected", "cancelled", "attempts"].map { Self.number(rows[1][$0]) } == [2, 1, 0, 3])
        #expect(["accepted", "rejected", "cancelled"].map { Self.number(rows[0][$0]) } == [0, 0, 1])
        // Of jobs that are cancelled before they start there is no time.
        #expect(rows[0]["p50_seconds"] == .null && rows[1]["p99_seconds"].isNumber)
      }
      #expect(Self.number(state["last_hour"][1]["per_second"]) == 3.0 / 3600)
      func sum(_ name: String) -> Double { state["minutes"].elements.reduce(0) { $0 + Self.number($1[name]) } }
      #expect([sum("accepted"), sum("rejected"), sum("cancelled")] == [2, 1, 1])
      #expect(state["minutes"][0]["at"].text?.hasSuffix(":00.000Z") == true)
      #expect(state["times"].elements.map { $0["kind"].text } == ["post"])
      #expect(Self.number(state["times"][0]["jobs"]) == 3 && state["times"][0]["p95_seconds"].isNumber)
      let worker = state["workers"][0]
      #expect(worker["host"] == .string("here") && worker["is_alive"] == .boolean(true))
      #expect(Self.number(worker["jobs"]) == 1 && Self.number(worker["slots"]) == 6)
      #expect(worker["last_hour"].elements.isEmpty)
      #expect(
        worker.names == [
          "number", "host", "process", "started_at", "is_alive", "beat_age_seconds", "jobs", "slots", "last_hour",
        ])
      #expect(state["errors"].elements == [.object(["error": .string("disk full"), "jobs": .number(1)])])
      let reasons = state["reasons"].elements.map { "\($0["code"].text ?? "") \(Int(Self.number($0["posts"])))" }
      #expect(reasons == ["corrupt_video 2", "too_large 1"])
      #expect(Self.number(state["storage"]["free_bytes"]) > 0 && state["storage"]["min_free_bytes"] == .number(0))
    }
  }

  private static func number(_ value: JSONValue) -> Double {
    if case .number(let number) = value { number } else { -1 }
  }

  @Test("one read of the history serves all requests that wait for it or come soon after")
  func oneRead() async throws {
    let (history, reads) = (RecentHistory(), Shared(0))
    try await RunningAPI.with { api in
      let all = await withTaskGroup { group in
        for _ in 0..<8 {
          group.addTask {
            await history.figures {
              reads.withLock { $0 += 1 }
              return try await api.pool.run { try HistoryFigures($0) }
            }
          }
        }
        return await group.reduce(into: []) { $0.append($1) }
      }
      #expect(all.allSatisfy { $0?.lastHour.isEmpty == true } && all.count == 8)
      #expect(reads.withLock { $0 } == 1)
      #expect(await history.figures { throw CancellationError() }?.lastHour.isEmpty == true)
    }
  }

  @Test("a history that cannot be read hides nothing that is live, and is not read again at once")
  func unreadable() async throws {
    let (history, reads) = (RecentHistory(), Shared(0))
    for _ in 0..<3 {
      let figures = await history.figures {
        reads.withLock { $0 += 1 }
        throw CancellationError()
      }
      #expect(figures == nil)
    }
    #expect(reads.withLock { $0 } == 1)
    try await RunningAPI.with { api in
      try await api.execute("ALTER TABLE post RENAME TO posts_of_later")
      let state = try await api.get("/v1/operations")
      #expect(state.status == 200 && state.json["history_at"] == .null && state.json["minutes"].elements.isEmpty)
      #expect(state.json["storage"]["free_bytes"].isNumber)
    }
  }

  @Test("what is live is read each time")
  func live() async throws {
    try await RunningAPI.with { api in
      _ = try await api.get("/v1/operations")
      try await api.pool.run { try JobQueue.enqueue(Self.job(), $0) }
      #expect(try await api.get("/v1/operations").json["queues"].elements.count == 1)
    }
  }

  @Test("the store is summed up by role and age, with what was replaced, was rejected, or is damaged")
  func store() async throws {
    try await RunningAPI.with { api in
      func insert(_ role: Role, bytes: Int, age: String, _ columns: String = "") async throws {
        let hash = SHA256.digest(of: Array("\(role) \(bytes)".utf8)).bytes
        try await api.pool.transaction { session in
          try session.execute("INSERT INTO blob (hash, bytes) VALUES ($1, $2::bigint)", .bytes(hash), .integer(bytes))
          let set: Int64 = try session.execute(
            """
            INSERT INTO asset_set (public_id, created_at, retired_at, rejected_at)
            VALUES (gen_random_uuid(), clock_timestamp() - $1::interval,
              CASE WHEN $2 = 'retired' THEN now() END, CASE WHEN $2 = 'rejected' THEN now() END) RETURNING id
            """, .text(age), .text(columns)
          ).single().get("id")
          try session.execute(
            """
            INSERT INTO asset (public_id, asset_set_id, role, blob, type, bytes)
            VALUES (gen_random_uuid(), $1::bigint, $2, $3, 'video/mp4', $4::bigint)
            """, .integer(set), .text(role.rawValue), .bytes(hash), .integer(bytes))
        }
      }
      try await insert(.composed, bytes: 1000, age: "1 hour")
      try await insert(.composed, bytes: 200, age: "2 days", "retired")
      try await insert(.poster, bytes: 30, age: "20 days")
      try await insert(.sourceFront, bytes: 4, age: "200 days", "rejected")
      try await api.execute("UPDATE blob SET created_at = created_at - interval '20 days' WHERE bytes = 30")
      try await api.execute("INSERT INTO blob_damage (hash, kind) SELECT hash, 'missing' FROM blob WHERE bytes = 30")
      let usage = try await api.get("/v1/operations/store")
      #expect(usage.status == 200)
      func sums(_ list: String, _ name: String) -> [String] {
        usage.json[list].elements.map { row in
          "\(row[name].text ?? "") \(Int(Self.number(row["assets"]))) \(Int(Self.number(row["bytes"])))"
        }
      }
      #expect(sums("roles", "role") == ["composed 2 1200", "poster 1 30", "source.front 1 4"])
      #expect(sums("ages", "age") == ["day 1 1000", "week 1 200", "month 1 30", "older 1 4"])
      let blobs = usage.json["blobs"]
      #expect(Self.number(blobs["count"]) == 4 && Self.number(blobs["bytes"]) == 1234)
      // Files count by the time when they came, not by that of the sets that have their content.
      let files = blobs["ages"].elements.map { row in
        "\(row["age"].text ?? "") \(Int(Self.number(row["count"]))) \(Int(Self.number(row["bytes"])))"
      }
      #expect(files == ["day 3 1204", "week 0 0", "month 1 30", "older 0 0"] && blobs["first_at"].text != nil)
      #expect(usage.json["retired"] == .object(["assets": .number(1), "bytes": .number(200)]))
      #expect(usage.json["rejected"] == .object(["assets": .number(1), "bytes": .number(4)]))
      let damaged = usage.json["damaged"]
      #expect(damaged.elements.count == 1 && damaged[0]["kind"] == .string("missing"))
      #expect(damaged[0]["hash"] == .string(SHA256.digest(of: Array("poster 30".utf8)).hex))
      #expect(damaged[0].names == ["hash", "kind", "found_at", "attempts", "error"])
    }
  }

  @Test("a sum that takes too long is refused, and delays no other request")
  func slow() async throws {
    var setting = RunningAPI.Setting()
    setting.searchLimit = .milliseconds(500)
    try await RunningAPI.with(setting) { api in
      try await api.whileLocked("asset", in: "ACCESS EXCLUSIVE MODE") {
        let refused = try await api.get("/v1/operations/store")
        #expect(refused.status == 422 && UserClient.kind(refused) == "query_too_slow")
        #expect(try await api.get("/v1/operations").status == 200)
      }
      #expect(try await api.get("/v1/operations/store").status == 200)
    }
  }

  @Test("submissions have the definitions in use, with the keys of their files")
  func definitions() async throws {
    try await RunningAPI.with { api in
      let items = try await api.get("/v1/operations/definitions").json["items"].elements
      let names = items.compactMap { $0["name"].text }
      #expect(
        Set(names).isSuperset(of: ["take5-post", "marker-video", "photo-post", "reaction", "itinerary", "fields"]))
      let moment = try #require(items.first { $0["name"] == .string("take5-post") })
      #expect(moment["outputs"]["composed"]["layout"].text != nil && moment["limits"]["bytes"] == .number(67_108_864))
    }
  }

  @Test("quarantined media are listed with their files, and released by their hash")
  func quarantine() async throws {
    try await RunningAPI.with { api in
      let fixture = try await AccessFixture(api, visibility: .public)
      try await api.execute(
        """
        INSERT INTO quarantined_input (inputs, role, blob)
        SELECT inputs, 'source.photo', hash FROM media_crash, blob LIMIT 1
        """)
      let list = try await api.get("/v1/operations/quarantine")
      let item = list.json["items"][0]
      #expect(list.status == 200 && list.json["next"] == .null && item["hash"] == .string(fixture.quarantined))
      #expect(
        item.names == [
          "hash", "kind", "code", "error", "stage", "signal", "crashes", "first_at", "last_at", "quarantined_at",
          "files",
        ])
      #expect(item["files"][0]["role"] == .string("source.photo") && item["files"][0]["bytes"] == .number(5))
      let path = "/v1/operations/quarantine/\(fixture.quarantined)"
      for wrong in ["x", String(fixture.quarantined.prefix(12)), SHA256.digest(of: [1]).hex] {
        let refused = try await request("DELETE", "/v1/operations/quarantine/\(wrong)", port: api.port)
        #expect(refused.status == 404 && UserClient.kind(refused) == "quarantine_not_found", "\(wrong)")
      }
      #expect(try await request("DELETE", path, port: api.port).status == 204)
      #expect(try await request("DELETE", path, port: api.port).status == 404)
      #expect(try await api.get("/v1/operations/quarantine").json["items"].elements.isEmpty)
    }
  }
}
