import FoundationEssentials
import HTTPTesting
import Model
import Platform
import Postgres
import Queue
import Testing

@testable import Kit
@testable import Rooms

@Suite("Routes of the schedule of the daily window", .tags(.database, .network), .timeLimit(.minutes(60)))
struct WindowScheduleRouteTests {
  private static let path = "/v1/window/schedule"
  private static let random = "mon-sun 5m in 00:00-00:00 Europe/Berlin"

  private static func set(_ text: String, _ api: RunningAPI, _ headers: [(String, String)] = []) async throws
    -> ClientResponse
  {
    try await UserClient.send("PUT", path, headers, #"{"schedule":"\#(text)"}"#, api)
  }

  @Test("operators set, read and clear the schedule; without one the option of the process counts")
  func schedule() async throws {
    var setting = RunningAPI.Setting()
    setting.api.windowSchedule = WindowSchedule(RunningAPI.windowSchedule)
    try await RunningAPI.with(setting) { api in
      let option = try await api.get(Self.path)
      #expect(option.text == #"{"schedule":"\#(RunningAPI.windowSchedule)","source":"option"}"#)
      let set = try await Self.set(Self.random, api)
      #expect(set.status == 200 && set.text == #"{"schedule":"\#(Self.random)","source":"operator"}"#)
      #expect(try await api.get(Self.path).text == set.text)
      // Another operator has read the schedule before.
      let outdated = [("If-Match", try #require(option.headers["etag"]))]
      #expect(try await Self.set("18:00-18:05 UTC", api, outdated).status == 412)
      let current = [("If-Match", try #require(set.headers["etag"]))]
      #expect(try await Self.set("18:00-18:05 UTC", api, current).status == 200)
      #expect(try await UserClient.send("DELETE", Self.path, [], nil, api).status == 204)
      #expect(try await api.get(Self.path).text == option.text)
    }
    try await RunningAPI.with { api in
      #expect(try await api.get(Self.path).text == #"{"schedule":null,"source":null}"#)
      #expect(try await api.get("/v1/window/preview").text == #"{"items":[]}"#)
      // It is that of a worker.
      try await api.openWindow()
      #expect(
        try await api.get(Self.path).text == #"{"schedule":"\#(RunningAPI.windowSchedule)","source":"option"}"#)
    }
  }

  @Test("what is no schedule is refused by its field", arguments: ["18:00", "18:00-18:05 Mars/Olympus", ""])
  func invalid(text: String) async throws {
    try await RunningAPI.with { api in
      let refused = try await Self.set(text, api)
      #expect(refused.status == 400 && refused.json["errors"].elements.first?["field"].text == "schedule")
      let query = text.replacing(" ", with: "%20")
      #expect(try await api.get("/v1/window/preview?schedule=\(query)").status == 400)
      #expect(try await api.get(Self.path).json["schedule"] == .null)
    }
  }

  @Test("a preview has the hours of the next days in local time and in UTC, with the probability of a minute")
  func preview() async throws {
    try await RunningAPI.with { api in
      func preview(_ text: String) async throws -> [JSONValue] {
        let query = text.replacing(" ", with: "%20")
        return try await api.get("/v1/window/preview?schedule=\(query)").json["items"].elements
      }
      let hours = try await preview("5m in 09:00-21:00 Asia/Tokyo")
      #expect(7...9 ~= hours.count)
      let last = try #require(hours.last)
      #expect(last["local_from"].text?.hasSuffix("T09:00:00") == true)
      #expect(last["local_until"].text?.hasSuffix("T21:00:00") == true)
      #expect(last["from"].text?.hasSuffix("T00:00:00.000Z") == true)
      #expect(last["until"].text?.hasSuffix("T12:00:00.000Z") == true)
      #expect(last["per_minute"] == .number(1.0 / 720) && last["seconds"] == .number(300))
      let fixed = try await preview("mon 18:00-18:05,19:00-19:10 UTC")
      #expect(2...4 ~= fixed.count)
      #expect(fixed.allSatisfy { $0["per_minute"] == .null && $0["from"] == $0["until"] })
      // It changes nothing.
      #expect(try await api.get(Self.path).json["schedule"] == .null)
    }
  }

  /// The texts that a time may have.
  private static func texts(of time: Date, _ session: Session) throws -> [String] {
    let seconds = Int(time.timeIntervalSince1970)
    let rows = try ["UTC", "Europe/Berlin"].map { zone in
      try session.execute(
        "SELECT to_char(to_timestamp($1::float8) AT TIME ZONE $2, 'HH24:MI:SS') AS text", .double(Double(seconds)),
        .text(zone)
      ).single().get("text", as: String.self)
    }
    return rows + ["\(seconds)"]
  }

  @Test("no response, header, metric or event has the time of the next window")
  func secret() async throws {
    try await RunningAPI.with { api in
      let table = try AccessTable()
      let fixture = try await AccessFixture(api, visibility: .public)
      _ = try await api.createKey("reader", [.read])
      _ = try await api.createKey("all", Set(Scope.allCases))
      let (reader, all) = ([("Authorization", "Bearer reader")], [("Authorization", "Bearer all")])
      #expect(try await Self.set(Self.random, api, all).status == 200)
      let next = try await api.pool.run { session -> [String] in
        let time: Int64 = try session.execute("SELECT next_at FROM window_schedule").single().get(0)
        return try Self.texts(of: Date(microseconds: time), session)
      }
      var read = 0
      func check(_ text: String, _ path: String) {
        for time in next { #expect(!text.contains(time), "\(path): \(time)") }
      }
      let paths = table.rows.filter { $0.method == "GET" && !$0.template.hasSuffix("events") }
        .map { fixture.request($0, author: nil).path }
      for path in paths + ["/v1/window/preview", "/v1/window/preview?schedule=x", "/v1/window?next=1"] {
        for credential in [all, reader] {
          let response = try await UserClient.send("GET", path, credential, nil, api)
          if response.status == 200 { read += 1 }
          check("\(response.headers) \(response.text)", path)
        }
      }
      #expect(read > 90)
      check(try await Self.set(Self.random, api, all).text, "PUT")
      check(try await Self.set("18:00-18:05 Mars/Olympus", api, all).text, "PUT")
      // The notification and the event come with the opening, and have its time alone.
      try await api.execute("UPDATE window_schedule SET next_at = clock_timestamp()")
      #expect(try await Window.open(by: nil, api.pool)?.isOpened == true)
      let later = try await api.pool.run { session -> [String] in
        let time: Int64 = try session.execute("SELECT next_at FROM window_schedule").single().get(0)
        return try Self.texts(of: Date(microseconds: time), session)
      }
      let stored: Int = try await api.pool.run { session in
        try session.execute("SELECT count(*) FROM user_event WHERE user_id = 'ada'").single().get(0)
      }
      let events = try await api.events(stored + 1, of: "ada", after: "0-0", with: reader)
      #expect(events.contains { $0.name == "window_opened" })
      for time in next + later {
        #expect(!events.contains { "\($0)".contains(time) }, "\(time)")
      }
      // Rows besides that of the schedule.
      let rows: String = try await api.pool.run { session in
        try session.execute(
          "SELECT string_agg(row::text, ' ') FROM (SELECT daily_window::text AS row FROM daily_window UNION ALL SELECT user_event::text FROM user_event) AS rows"
        ).single().get(0)
      }
      for time in later { #expect(!rows.contains(time)) }
    }
  }
}
