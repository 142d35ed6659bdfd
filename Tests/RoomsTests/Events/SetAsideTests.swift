import Definitions
import FoundationEssentials
import HTTPTesting
import Model
import Postgres
import PostgresTesting
import Push
import Queue
import Store
import StoreTesting
import Telemetry
import Testing

@testable import Kit
@testable import Rooms

/// What works for many users goes on with the others where the value of one row cannot be used. Each case has such a row before one without.
@Suite("A value of one row and the rows of other users", .tags(.database, .network), .timeLimit(.minutes(60)))
struct SetAsideTests {
  /// What works over the rows, and how a row could end it.
  enum Case: String, CaseIterable {
    case zoneOfDevice, announcedKind, announcedData, textOfClose, infiniteClose, listedEvent
    case reasons, activity
  }

  @Test("the others are served", arguments: Case.allCases)
  func served(_ poisoned: Case) async throws {
    try await UserClient.with { api in
      try await api.pool.transaction { try Devices.announce([.fcm], webPushKey: nil, $0) }
      for user in ["ada", "bob"] { try await Self.register(user, api) }
      let post = try await api.insertPost(by: "bob")
      switch poisoned {
      case .zoneOfDevice:
        try await Self.execute(
          "UPDATE device SET quiet_from = 0, quiet_until = 1439, zone = 'US/Gone' WHERE user_id = 'ada'", api)
        try await api.comment(on: try await api.insertPost(by: "ada"), by: "eve")
        try await api.comment(on: post, by: "eve")
        // The one with the zone gets it too.
        #expect(try await Self.receivers(api) == ["ada", "bob"])
        #expect(try await Self.setAside(api) == ["device"])
      case .announcedKind, .announcedData:
        let (kind, data) =
          poisoned == .announcedKind ? ("later_kind", "{}") : ("collection_comment", #"{"collection":"none"}"#)
        try await Self.execute(
          "INSERT INTO announcement (kind, actor, data) VALUES ('\(kind)', 'ada', '\(data)')", api)
        try await Self.execute(
          "INSERT INTO relation (kind, user_id, target) VALUES ('friend', 'bob', 'eve'), ('friend', 'eve', 'bob')", api)
        try await api.pool.transaction { try Events.note(.ready, of: post, $0) }
        for _ in 0..<2 { _ = try await Events.dispatch(api.pool) }
        #expect(try await Self.count("user_event WHERE kind = 'friend_posted' AND user_id = 'eve'", api) == 1)
        #expect(try await Self.count("user_event WHERE position IS NULL", api) == 0)
        #expect(try await Self.setAside(api) == ["announcement"])
        // It is tried again: a later version may have read it meanwhile, or an operator corrected it.
        try await Self.execute("UPDATE announcement SET kind = 'friend_posted' WHERE actor = 'ada'", api)
        try await Self.execute("UPDATE row_set_aside SET until = clock_timestamp()", api)
        _ = try await Events.dispatch(api.pool)
        #expect(try await Self.count("announcement WHERE after IS NOT NULL", api) == 0)
      case .textOfClose, .infiniteClose:
        let text = poisoned == .textOfClose ? "soon" : "-infinity"
        try await Self.execute(
          """
          INSERT INTO user_event (user_id, number, kind, data)
          VALUES ('\(UserEvent.service)', 1, 'window_opened', '{"closes_at":"\(text)"}')
          """, api)
        try await api.comment(on: post, by: "eve")
        #expect(try await Self.receivers(api) == ["ada", "bob", "bob"])
      case .listedEvent:
        try await api.comment(on: post, by: "eve")
        try await Self.execute(#"UPDATE user_event SET data = '{"comments":3}'"#, api)
        try await api.comment(on: post, by: "eve")
        _ = try await Events.dispatch(api.pool)
        for user in ["bob", UserEvent.everyone] {
          let kinds = try await api.pool.run { try Events.list(of: user, after: 0, limit: 10, $0).map(\.kind) }
          #expect(kinds == [UserEvent.blank, "comment"])
        }
        #expect(try await Self.setAside(api) == ["user_event"])
      case .reasons:
        try await Self.execute("UPDATE post SET status = 'rejected', reasons = '{}'", api)
        _ = try await api.insertPost(by: "ada")
        try await Self.execute(
          #"UPDATE post SET status = 'rejected', reasons = '[{"code":"too_long"}]' WHERE author = 'ada'"#, api)
        let found = try await api.pool.run { try Operations.rejections($0) }
        #expect(found == [RejectionCount(code: "too_long", posts: 1)])
      case .activity:
        try await Self.execute(
          """
          INSERT INTO map_activity (period, level, cell, start, posts, longitudes, latitudes)
          SELECT 'day', 0, cell, '2026-11-20', cell - 1, 1000000, 1000000 FROM generate_series(1, 2) AS cell
          """, api)
        let cells = try await api.pool.run { session in
          try session.execute(
            Places.statements["activity"], .text("day"), .integer(0), .integers([1, 2]),
            .timestamp(microseconds: 0), .timestamp(microseconds: 4_000_000_000_000_000)
          ).map { try $0.get("cell", as: Int64.self) }
        }
        #expect(cells == [2])
      }
    }
  }

  @Test("each table with rows that may be set aside is in the database, and has a gauge before that")
  func gauges() async throws {
    try await UserClient.with { api in
      let tables = [any Room.Type].all.settingAside.map(\.name)
      #expect(
        tables.sorted() == [
          "announcement", "blob_damage", "code_request", "device", "push_delivery", "user_event", "window_schedule",
        ])
      let text = try await api.pool.run { session in
        for table in tables {
          #expect(
            try session.execute("SELECT to_regclass($1) IS NOT NULL", .text(table)).single().get(0, as: Bool.self))
        }
        return Metrics().text(with: try OperationGauges.measure(session))
      }
      for table in tables { #expect(text.contains("take5_rows_set_aside{table=\"\(table)\"} 0"), "\(table)") }
    }
  }

  @Test("a delivery that stops its page is set aside, and those before and after it end")
  func delivery() async throws {
    try await UserClient.with { api in
      try await api.pool.transaction { try Devices.announce([.fcm], webPushKey: nil, $0) }
      for user in ["ada", "bob", "eve"] { try await Self.register(user, api) }
      try await Self.execute("UPDATE device SET shard = 0", api)
      try await Self.execute(
        "INSERT INTO user_event (user_id, number, kind) VALUES ('\(UserEvent.service)', 1, 'window_opened')", api)
      try await PushFixture.dispatch(api)
      try await Self.execute(
        """
        UPDATE push_delivery SET expires_at = CASE user_id WHEN 'bob' THEN 'infinity' ELSE clock_timestamp() - interval '1 minute' END,
          next_at = clock_timestamp() - make_interval(secs => ascii(user_id))
        FROM device WHERE device.id = device_id
        """, api)
      let job = try await api.pool.run { session in
        let worker = try JobQueue.register(host: "here", process: 1, session)
        return try #require(try JobQueue.claim(worker: worker, queue: "push", limit: 1, session).first)
      }
      let texts = try PushTexts(json: Definitions.notifications, publicURL: nil)
      let courier = try PushCourier(Sender.Configuration(), texts, Metrics(), Logger { _ in })
      defer { courier.stop() }
      for _ in 0..<10 {
        guard try await courier.deliver(job, isStopped: { false }, api.pool) else { break }
      }
      #expect(try await Self.count("push_delivery", api) == 1)
      #expect(try await Self.count("push_delivery WHERE next_at > clock_timestamp() + interval '55 minutes'", api) == 1)
      #expect(try await Self.setAside(api) == ["push_delivery"])
    }
  }

  @Test("a message whose event cannot be read waits, the others are sent, and it is sent when it can be read")
  func message() async throws {
    try await WebhookFixture.with { fixture in
      let id = try await fixture.create()
      let (unread, read) = (PublicID.now(), PublicID.now())
      try await fixture.notify(unread, data: Array(#"{"comments":3}"#.utf8))
      try await fixture.notify(read)
      try await fixture.turn()
      #expect(fixture.received().map(\.post) == ["\(read)"])
      #expect(try await Self.setAside(fixture.api) == ["user_event"])
      let waiting: Bool = try await fixture.value(
        "SELECT bool_and(next_at > clock_timestamp() + interval '55 minutes') FROM webhook_delivery WHERE state = 'pending'"
      )
      #expect(waiting)
      let failing: Int = try await fixture.value("SELECT failures FROM webhook")
      #expect(failing == 0)
      #expect(try await fixture.deliveries(id, "?state=pending").first?["error"].text == "the event cannot be read")
      try await fixture.execute("UPDATE user_event SET data = NULL")
      try await fixture.passTime()
      try await fixture.turn()
      #expect(fixture.received().map(\.post) == ["\(unread)"])
    }
  }

  @Test("where the server does not know the zone of the schedule any more, the window opens by the last offset of it")
  func window() async throws {
    try await StoreFixture.with { fixture in
      let pool = fixture.pool
      let known = "18:00-18:05 America/Los_Angeles"
      let gone = "18:00-18:05 US/Gone"
      func open(_ schedule: String) async throws -> Bool {
        var isOpened = false
        for _ in 0..<10 {
          let turn = try #require(try await Window.open(by: WindowSchedule(schedule), pool))
          isOpened = isOpened || turn.isOpened
          if turn.next > .zero { break }
        }
        return isOpened
      }
      func hour(_ zone: String) async throws -> String {
        try await pool.run { session in
          try session.execute(
            "SELECT to_char(next_at AT TIME ZONE '\(zone)', 'HH24:MI') FROM window_schedule WHERE next_at > clock_timestamp()"
          ).single().get(0)
        }
      }
      func execute(_ text: Statement) async throws { _ = try await pool.run { try $0.execute(text).affected } }
      #expect(try await !open(known))
      // The same schedule, after the server has lost its zone.
      try await execute(
        "UPDATE window_schedule SET schedule = '\(gone)', next_at = clock_timestamp() - interval '1 second'")
      #expect(try await open(gone))
      let offset: String = try await pool.run { session in
        try session.execute("SELECT to_char(utc_offset, 'HH24:MI') FROM window_schedule").single().get(0)
      }
      #expect(["-07:00", "-08:00"].contains(offset))
      #expect(try await hour("America/Los_Angeles") == "18:00")
      let noted: [String] = try await pool.run { session in
        try session.execute("SELECT relation || ': ' || error FROM row_set_aside").map { try $0.get(0) }
      }
      #expect(noted == ["window_schedule: unknown time zone 'US/Gone'"])
      // Without a known offset it opens by UTC.
      #expect(try await !open("18:00-18:05 US/Never"))
      #expect(try await hour("UTC") == "18:00")
      #expect(try await !open("18:00-18:05 Europe/Berlin"))
      #expect(try await hour("Europe/Berlin") == "18:00")
    }
  }

  // MARK: Helpers

  private static func register(_ user: String, _ api: RunningAPI) async throws {
    let saved = try await UserClient.send(
      "PUT", "/v1/users/\(user)/devices/\(user)-phone", UserClient.backend, #"{"platform":"fcm"}"#, api)
    #expect(saved.status == 201, "\(saved.text)")
    try await execute("UPDATE device SET shard = 0", api)
  }

  /// The users of the devices to which notifications are due, also those with quiet hours.
  private static func receivers(_ api: RunningAPI) async throws -> [String] {
    try await PushFixture.dispatch(api)
    let texts = try PushTexts(json: Definitions.notifications, publicURL: nil)
    let due = try await api.pool.transaction { session in
      try DueDelivery.page(shard: 0, texts, now: 1_800_000_000, session)
    }
    #expect(due.allSatisfy { $0.quietEnd == nil && $0.notification != nil })
    let users: [Int64: String] = try await api.pool.run { session in
      Dictionary(
        try session.execute("SELECT id, user_id FROM device").map { (try $0.get("id"), try $0.get("user_id")) }
      ) { first, _ in first }
    }
    return due.compactMap { users[$0.device] }.sorted()
  }

  private static func setAside(_ api: RunningAPI) async throws -> [String] {
    try await api.pool.run { session in
      try session.execute("SELECT DISTINCT relation FROM row_set_aside").map { try $0.get(0) }
    }
  }

  private static func execute(_ text: Statement, _ api: RunningAPI) async throws {
    _ = try await api.pool.run { try $0.execute(text).affected }
  }

  private static func count(_ table: String, _ api: RunningAPI) async throws -> Int {
    try await api.pool.run { try $0.execute("SELECT count(*) FROM \(table)").single().get(0) }
  }
}
