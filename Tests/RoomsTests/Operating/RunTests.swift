import HTTPTesting
import Model
import Postgres
import Testing

@testable import Kit
@testable import Rooms

/// Reprocessing runs over HTTP.
@Suite("Reprocessing over HTTP", .tags(.database, .network), .timeLimit(.minutes(60)))
struct RunTests {
  /// Runs a test with two moments of Ada that are ready.
  private static func with(_ body: (RunningAPI) async throws -> Void) async throws {
    try await RunningAPI.with { api in
      for _ in 0..<2 { #expect(try await api.submit(.moment()).status == 202) }
      try await api.execute(
        """
        WITH made AS (
          INSERT INTO asset_set (public_id, definition)
          SELECT gen_random_uuid(), (SELECT hash FROM definition WHERE name = 'take5-post') FROM post RETURNING id)
        UPDATE post SET status = 'ready', asset_set_id = numbered.id
        FROM (SELECT id, row_number() OVER (ORDER BY id) AS number FROM made) AS numbered
        WHERE numbered.number = (SELECT count(*) FROM post AS other WHERE other.id <= post.id)
        """)
      try await body(api)
    }
  }

  private static let path = "/v1/operations/runs"

  private static func start(_ body: String, _ api: RunningAPI) async throws -> ClientResponse {
    try await UserClient.send("POST", path, [], body, api)
  }

  private static func set(_ state: String, _ run: String, _ api: RunningAPI) async throws -> ClientResponse {
    try await UserClient.send("PATCH", run, [], #"{"state":"\#(state)"}"#, api)
  }

  @Test("a dry run says what a run would make, and stores nothing")
  func estimate() async throws {
    try await Self.with { api in
      let estimate = try await Self.start(#"{"kinds":[],"states":[],"dry_run":true}"#, api)
      #expect(estimate.status == 200 && estimate.json["items"] == .number(2))
      #expect(estimate.json["without_sources"] == .number(0) && estimate.json["cpu_seconds"] == .null)
      let part = estimate.json["definitions"][0]
      #expect(part["kind"] == .string("take5") && part["items"] == .number(2) && part["from"] == part["to"])
      #expect(part["to"].text?.hasPrefix("take5-post ") == true)
      for (filter, items) in [
        (#""authors":["grace"]"#, 0.0), (#""authors":["ada","grace"]"#, 2), (#""kinds":["photo"]"#, 0),
        (#""limit":1"#, 1), (#""made_by":"photo-post""#, 0), (#""version_below":1000"#, 2), (#""version_below":1"#, 0),
        (#""states":["failed","rejected"]"#, 0), (#""created_before":"2020-01-01T00:00:00Z""#, 0),
        (#""ids":[]"#, 0), (#""missing":"poster""#, 2), (#""states":["rejected"],"reason":"too_large""#, 0),
      ] {
        let some = try await Self.start("{\(filter),\"dry_run\":true}", api)
        #expect(some.json["items"] == .number(items), "\(filter)")
      }
      try await api.execute("UPDATE post SET source_set_id = NULL")
      let lost = try await Self.start(#"{"dry_run":true}"#, api)
      #expect(lost.json["items"] == .number(0) && lost.json["without_sources"] == .number(2))
      #expect(try await api.get(Self.path).json["items"].elements.isEmpty)
    }
  }

  @Test("a run is started, listed, paused, resumed and cancelled")
  func life() async throws {
    try await Self.with { api in
      let started = try await Self.start(
        #"{"kinds":["take5"],"authors":["ada"],"rate":0.5,"priority":7,"is_forced":true,"keep_old":true}"#, api)
      #expect(started.status == 201)
      let run = try #require(started.headers["location"])
      #expect(run == "\(Self.path)/\(started.json["id"].text ?? "")")
      #expect(started.json["state"] == .string("running") && started.json["total"] == .number(2))
      #expect(started.json["rate"] == .number(0.5) && started.json["priority"] == .number(7))
      #expect(started.json["items"]["waiting"] == .number(2) && started.json["ended_at"] == .null)
      #expect(started.json["items"].names == ["waiting", "started", "made", "skipped", "failed", "cancelled"])
      let selection = started.json["selection"]
      #expect(selection["kinds"].elements == [.string("take5")] && selection["authors"].elements == [.string("ada")])
      #expect(selection["states"].elements == [.string("ready")] && selection["is_forced"] == .boolean(true))
      #expect(selection["keep_old"] == .boolean(true) && selection["made_by"] == .null)
      #expect(try await Self.set("paused", run, api).json["state"] == .string("paused"))
      #expect(try await Self.set("running", run, api).json["state"] == .string("running"))
      try await api.execute(
        """
        UPDATE reprocess_item SET outcome = 'failed', error = 'the front clip is gone', ended_at = now()
        WHERE subject = (SELECT subject FROM reprocess_item ORDER BY subject LIMIT 1)
        """)
      let read = try await api.get(run)
      #expect(read.status == 200 && read.json["failures"].elements.count == 1 && read.json["retried"].elements.isEmpty)
      #expect(read.json["failures"][0]["error"] == .string("the front clip is gone"))
      #expect(read.json["failures"][0]["kind"] == .string("post") && read.json["items"]["failed"] == .number(1))
      #expect(read.json.names == started.json.names.union(["failures", "retried"]))
      let cancelled = try await Self.set("cancelled", run, api)
      #expect(cancelled.json["state"] == .string("cancelled") && cancelled.json["items"]["cancelled"] == .number(1))
      let ended = try await Self.set("running", run, api)
      #expect(ended.status == 409 && UserClient.kind(ended) == "run_ended")
      let item = try await api.get(Self.path).json["items"][0]
      #expect(item.names == started.json.names && item["state"] == .string("cancelled"))
    }
  }

  @Test("runs are listed newest first, by page, and one that has completed is finished")
  func pages() async throws {
    try await Self.with { api in
      var ids: [String] = []
      for _ in 0..<3 { ids.append(try #require(try await Self.start("{}", api).json["id"].text)) }
      try await api.execute("UPDATE reprocess_run SET state = 'completed', ended_at = now()")
      func page(_ query: String) async throws -> (ids: [String], next: String?) {
        let response = try await api.get("\(Self.path)?\(query)")
        #expect(response.json["items"].elements.allSatisfy { $0["state"] == .string("finished") })
        return (response.json["items"].elements.compactMap { $0["id"].text }, response.json["next"].text)
      }
      let first = try await page("limit=2")
      #expect(first.ids == [ids[2], ids[1]])
      let second = try await page("limit=2&cursor=\(try #require(first.next))")
      #expect(second.ids == [ids[0]] && second.next == nil)
      // A run that one of its jobs continues has other counts when it ends again.
      try await api.execute("UPDATE reprocess_run SET state = 'running', ended_at = NULL")
      try await api.execute("UPDATE reprocess_item SET outcome = 'done', ended_at = now()")
      try await api.execute("UPDATE reprocess_run SET state = 'completed', ended_at = clock_timestamp()")
      #expect(try await api.get(Self.path).json["items"][0]["items"]["made"] == .number(2))
    }
  }

  @Test("a selection without posts starts nothing, and an unknown run is not found")
  func nothing() async throws {
    try await Self.with { api in
      let empty = try await Self.start(#"{"authors":["grace"]}"#, api)
      #expect(empty.status == 409 && UserClient.kind(empty) == "nothing_selected")
      #expect(try await api.get(Self.path).json["items"].elements.isEmpty)
      for id in ["x", "\(PublicID.now())"] {
        let run = "\(Self.path)/\(id)"
        #expect(UserClient.kind(try await api.get(run)) == "run_not_found")
        #expect(UserClient.kind(try await Self.set("paused", run, api)) == "run_not_found")
      }
    }
  }

  @Test(
    "an invalid request names the field",
    arguments: [
      (#""kinds":["moment"]"#, "kinds"), (#""states":["held"]"#, "states"), (#""version_below":0"#, "version_below"),
      (#""rate":0"#, "rate"), (#""rate":1.7e308"#, "rate"), (#""rate":1e-300"#, "rate"),
      (#""priority":10"#, "priority"), (#""reason":"too_large""#, "reason"),
      (#""created_after":"2h""#, "created_after"), (#""limit":0"#, "limit"), (#""colour":"red""#, "colour"),
      (#""is_forced":1"#, "is_forced"), (#""ids":["7"]"#, "ids"),
    ])
  func invalid(field: String, name: String) async throws {
    try await RunningAPI.with { api in
      let refused = try await Self.start("{\(field)}", api)
      #expect(refused.status == 400 && refused.json["errors"][0]["field"] == .string(name))
    }
  }
}
