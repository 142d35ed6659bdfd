import FoundationEssentials
import HTTPTesting
import Model
import Postgres
import Store
import Testing

@testable import Kit
@testable import Rooms

@Suite("Daily window", .tags(.database, .network), .timeLimit(.minutes(60)))
struct WindowTests {
  @Test("the window is returned before the first one, while open and after it closed, never the next one")
  func window() async throws {
    try await RunningAPI.with { api in
      let none = try await api.get("/v1/window")
      #expect(none.status == 200)
      #expect(
        String(decoding: none.body, as: UTF8.self)
          == #"{"closes_at":null,"next_at":null,"open":false,"opened_at":null}"#)

    }
    var setting = RunningAPI.Setting()
    setting.api.windowSchedule = WindowSchedule(RunningAPI.windowSchedule)
    try await RunningAPI.with(setting) { api in
      try await api.openWindow()
      let open = try await api.get("/v1/window")
      #expect(open.json["open"] == .boolean(true))
      #expect(open.json["next_at"] == .null)
      let times = ["opened_at", "closes_at"].compactMap { open.json[$0].text.flatMap(JSON.date(from:)) }
      #expect(times.count == 2 && times[1].timeIntervalSince(times[0]) == 300)
      #expect(open.headers["cache-control"] == "private, no-cache")

      try await api.pool.run { session in
        _ = try session.execute("UPDATE daily_window SET closes_at = opened_at + interval '1 microsecond'")
      }
      #expect(try await api.get("/v1/window").json["open"] == .boolean(false))
      #expect(try await api.get("/v1/window?when=now").status == 400)
    }
  }

  @Test("reading the window needs the scope read")
  func scope() async throws {
    try await RunningAPI.with { api in
      for (key, scope, status) in [("k1", Scope.read, 200), ("k2", .submit, 403)] {
        _ = try await api.createKey(key, [scope])
        #expect(try await api.get("/v1/window", headers: [("Authorization", "Bearer \(key)")]).status == status)
      }
      #expect(try await api.get("/v1/window").status == 401)
    }
  }

  /// Opens a window for 300 seconds, some time ago.
  private static func open(_ api: RunningAPI, secondsAgo: Int) async throws {
    try await api.pool.run { session in
      _ = try session.execute(
        """
        INSERT INTO daily_window (opened_at, closes_at) SELECT at, at + interval '300 seconds'
        FROM (SELECT clock_timestamp() - make_interval(secs => $1::int) AS at) AS time
        """, .integer(secondsAgo))
    }
  }

  private static func moment(captured secondsAgo: Double?) -> MultipartForm {
    let time = secondsAgo.map { #","captured_at":"\#(JSON.text(of: Date().addingTimeInterval(-$0)))""# } ?? ""
    return .moment(post: #"{"author":"ada"\#(time)}"#)
  }

  @Test("a moment says whether it is on time, late or outside; other posts and those before any window say nothing")
  func punctuality() async throws {
    try await RunningAPI.with { api in
      func state(captured: Double?) async throws -> JSONValue {
        let post = try await api.submit(Self.moment(captured: captured))
        #expect(post.status == 202)
        // It is judged once.
        let path = try #require(post.headers["location"])
        #expect(try await api.get(path).json["window"] == post.json["window"])
        return post.json["window"]
      }
      #expect(try await state(captured: nil) == .null)
      try await Self.open(api, secondsAgo: 10_000)
      #expect(try await state(captured: 9_900)["state"].text == "on_time")
      let late = try await state(captured: 5_000)
      #expect(late["state"].text == "late")
      // The window closed 9,700 seconds before the test: the test itself may take some seconds.
      let seconds: Double? = if case .number(let number) = late["late_seconds"] { number } else { nil }
      #expect(4_700...4_760 ~= seconds ?? 0)
      let outside = try await state(captured: 20_000)
      #expect(outside["state"].text == "outside" && outside["late_seconds"] == .null)
      #expect(try await state(captured: nil)["state"].text == "late")
      let marker = try await UserClient.send(
        "POST", "/v1/posts", [], #"{"kind":"marker","author":"ada","title":"x"}"#, api)
      #expect(marker.status == 201 && marker.json["window"] == .null)
    }
  }

  @Test("a definition may refuse what is late or outside, before anything is stored")
  func refused() async throws {
    var setting = RunningAPI.Setting()
    setting.window = Definition.Window(graceSeconds: 0, late: .refuse, outside: .refuse)
    try await RunningAPI.with(setting) { api in
      #expect(try await api.submit(Self.moment(captured: nil)).status == 202)
      try await Self.open(api, secondsAgo: 10_000)
      let before = try await api.storedCount()
      for captured in [5_000.0, 20_000] {
        let refused = try await api.submit(Self.moment(captured: captured))
        #expect(refused.status == 422 && UserClient.kind(refused) == "not_on_time")
      }
      #expect(try await api.storedCount() == before)
      #expect(try await api.submit(Self.moment(captured: 9_900)).status == 202)
    }
  }

  @Test("an alternative text is submitted, changed and removed, and belongs to the version")
  func alternativeText() async throws {
    try await RunningAPI.with { api in
      let post = try await api.submit(.moment(post: #"{"author":"ada","alternative_text":"A lake at dusk"}"#))
      #expect(post.json["alternative_text"].text == "A lake at dusk")
      let path = try #require(post.headers["location"])
      let before = try await api.get(path)
      let changed = try await UserClient.send("PATCH", path, [], #"{"alternative_text":"A pond"}"#, api)
      #expect(changed.json["alternative_text"].text == "A pond")
      #expect(changed.headers["etag"] != before.headers["etag"])
      #expect(changed.json["updated_at"] != before.json["updated_at"])
      let removed = try await UserClient.send("PATCH", path, [], #"{"alternative_text":null}"#, api)
      #expect(removed.json["alternative_text"] == .null)
    }
  }
}

extension RunningAPI {
  static let windowSchedule = "18:00-18:05 Europe/Berlin"

  /// Opens the daily window, as a worker does when it is due.
  func openWindow() async throws {
    try await execute(
      """
      INSERT INTO window_schedule (schedule, next_at, seconds) VALUES ('18:00-18:05 Europe/Berlin', clock_timestamp(), 300)
      ON CONFLICT (is_only) DO UPDATE SET next_at = excluded.next_at
      """)
    #expect(try await Window.open(by: WindowSchedule(Self.windowSchedule), pool)?.isOpened == true)
  }
}
