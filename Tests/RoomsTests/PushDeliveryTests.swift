import Definitions
import FoundationEssentials
import HTTPTesting
import Model
import Postgres
import PostgresTesting
import Push
import Store
import Testing
import WaitTesting

@testable import Rooms

@Suite("From an event to a notification", .tags(.database, .network), .timeLimit(.minutes(60)))
struct PushDeliveryTests {
  private static func texts() throws -> PushTexts {
    try PushTexts(json: Definitions.notifications, publicURL: "https://take5.example.org")
  }

  /// Registers a phone by a token of the user, which it returns.
  @discardableResult
  static func register(_ user: String, _ body: String = "", _ api: RunningAPI) async throws -> [(
    String, String
  )] {
    let token = try UserClient.bearer(
      try await UserClient.send("POST", "/v1/users/\(user)/tokens", UserClient.backend, "{}", api))
    let saved = try await UserClient.send(
      "PUT", "/v1/users/\(user)/devices/\(user)-phone", token, #"{"platform":"fcm"\#(body)}"#, api)
    #expect(saved.status == 201, "\(saved.text)")
    return token
  }

  private static func with(_ body: (RunningAPI) async throws -> Void) async throws {
    try await UserClient.with { api in
      try await api.pool.transaction { try Devices.announce([.fcm], webPushKey: nil, $0) }
      try await body(api)
    }
  }

  /// Gives events their positions, and passes what the service says to all on to each device.
  static func dispatch(_ api: RunningAPI) async throws {
    _ = try await Events.dispatch(api.pool)
    for shard in 0..<PushShards.count {
      try await until { try await api.pool.transaction { try !Devices.continueBroadcast(shard: shard, $0) } }
    }
  }

  /// What is due now, of all shards.
  static func due(_ api: RunningAPI) async throws -> [DueDelivery] {
    try await dispatch(api)
    let texts = try texts()
    return try await api.pool.transaction { session in
      try (0..<PushShards.count).flatMap { try DueDelivery.page(shard: $0, texts, now: 1_800_000_000, session) }
    }
  }

  static func openWindow(_ api: RunningAPI, closing seconds: Int = 300) async throws {
    _ = try await api.pool.transaction { session in
      try session.execute(
        """
        INSERT INTO user_event (user_id, number, kind, data)
        VALUES ($1, (SELECT count(*) + 1 FROM user_event), 'window_opened',
          jsonb_build_object('closes_at', clock_timestamp() + make_interval(secs => $2::int)))
        """, .text(UserEvent.service), .integer(seconds)
      ).affected
    }
  }

  static func count(_ table: String, _ api: RunningAPI) async throws -> Int {
    try await api.pool.run { try $0.execute("SELECT count(*) FROM \(table)").single().get(0) }
  }

  @Test("a comment is shown in the language of the device, and its badge counts what came since it was registered")
  func comments() async throws {
    try await Self.with { api in
      let post = try await api.insertPost(by: "ada")
      try await api.comment(on: post, by: "eve")
      #expect(try await Self.due(api).isEmpty)
      try await Self.register("ada", #","locale":"de-AT""#, api)
      try await api.comment(on: post, by: "bob")
      try await api.comment(on: post, by: "bob")
      let due = try await Self.due(api)
      let shown = try #require(due.first?.notification)
      #expect(due.count == 2 && shown.title == "bob hat kommentiert" && shown.body == "Nice")
      #expect(Set(due.compactMap { $0.notification?.badge }) == [1, 2])
      #expect(shown.data["post"] == "\(post)" && shown.data["user"] == "bob" && shown.data["comment"] != nil)
      #expect(Set(due.compactMap { $0.notification?.collapseID }).count == 2 && shown.mediaURL == nil)
    }
  }

  @Test("a friend gets a picture that the phone opens, until the author blocks the friend or hides the post")
  func pictures() async throws {
    try await Self.with { api in
      let fixture = try await AccessFixture(api, visibility: .friends)
      try await api.pool.transaction { session in
        for (user, friend) in [("ada", "bob"), ("bob", "ada")] {
          _ = try Relations.relate(user, .friend, to: friend, for: .unrestricted, session)
        }
        try session.execute("UPDATE post SET status = 'ready'")
        try session.execute("DELETE FROM user_event")
        try session.execute("DELETE FROM announcement")
        try session.execute("DELETE FROM device")
      }
      try await Self.register("bob", "", api)
      try await api.pool.transaction { try Events.note(.ready, of: fixture.post, $0) }
      let shown = try #require(try await Self.due(api).first?.notification)
      #expect(shown.kind == "friend_posted" && shown.title == "ada")
      let url = try #require(shown.mediaURL)
      #expect(url.hasPrefix("https://take5.example.org/v1/media/\(fixture.postAsset)?"))
      let path = url.replacing("https://take5.example.org", with: "")
      #expect(try await api.get(path).status == 200)
      #expect(try await api.get(path.replacing("signature=", with: "signature=0")).status == 403)
      for (change, back) in [
        ("SET visibility = 'private'", "SET visibility = 'friends'"),
        ("SET moderation = 'hide'", "SET moderation = NULL"),
      ] {
        try await api.pool.run { _ = try $0.execute("UPDATE post \(change)") }
        let hidden = try await Self.due(api)
        #expect(hidden.count == 1 && hidden[0].notification == nil, "\(change)")
        try await api.pool.run { _ = try $0.execute("UPDATE post \(back)") }
      }
      #expect(try await Self.due(api).first?.notification != nil)
      #expect(try await UserClient.send("PUT", "/v1/users/ada/blocks/bob", UserClient.backend, nil, api).status == 200)
      let blocked = try await Self.due(api)
      #expect(blocked.count == 1 && blocked[0].notification == nil)
    }
  }

  @Test("a window reaches all devices that want it, of providers that a worker sends to, until it closes")
  func windows() async throws {
    try await Self.with { api in
      for user in ["ada", "bob"] { try await Self.register(user, "", api) }
      try await Self.register("eve", #","kinds":["comment"]"#, api)
      let apple = "/v1/users/kim/devices/\(DeviceTests.apple)"
      _ = try await UserClient.send("PUT", apple, UserClient.backend, #"{"platform":"apns"}"#, api)
      try await Self.openWindow(api)
      let due = try await Self.due(api)
      #expect(due.count == 2 && due.allSatisfy { $0.notification?.body == "You have 5 minutes for your moment." })
      #expect(due.allSatisfy { $0.notification?.badge == nil && $0.notification?.priority == .high })
      #expect(Set(due.map(\.expires)).count == 1 && due[0].notification?.expiry == due[0].expires)
      #expect(Set(due.compactMap { $0.notification?.collapseID }).count == 1)
    }
  }

  @Test("in quiet hours a notification waits for their end by the device's own clock")
  func quiet() async throws {
    try await Self.with { api in
      let (from, until): (String, String) = try await api.pool.run { session in
        let row = try session.execute(
          """
          SELECT to_char(local - interval '1 hour', 'HH24:MI') AS start, to_char(local + interval '2 hours', 'HH24:MI') AS stop
          FROM (SELECT clock_timestamp() AT TIME ZONE 'Asia/Kolkata' AS local) AS time
          """
        ).single()
        return (try row.get("start"), try row.get("stop"))
      }
      for (zone, isQuiet) in [("Asia/Kolkata", true), ("America/Los_Angeles", false)] {
        let hours = #","zone":"\#(zone)","quiet_hours":{"from":"\#(from)","until":"\#(until)"}"#
        try await Self.register("ada", hours, api)
        try await Self.openWindow(api)
        let due = try await Self.due(api)
        #expect(due.count == 1 && (due[0].quietEnd != nil) == isQuiet)
        if let end = due[0].quietEnd { #expect(7100...7260 ~= end - due[0].expires + 300) }
        try await api.pool.run { _ = try $0.execute("DELETE FROM device") }
      }
    }
  }

  @Test("what became of a delivery is recorded: it ends, waits, or takes its device along")
  func endings() async throws {
    try await Self.with { api in
      for user in ["ada", "bob", "eve", "kim"] { try await Self.register(user, "", api) }
      try await Self.openWindow(api)
      let due = try await Self.due(api)
      #expect(due.count == 4)
      let later = due[0].expires - 1
      try await api.pool.transaction { session in
        try PushEnding.record(
          [
            PushEnding(due[0], .ended, "delivered"), PushEnding(due[1], until: later, "retried"),
            // It was registered after that.
            PushEnding(due[2], .gone(since: due[2].expires - 7200), "gone"),
            PushEnding(due[3], .gone(since: nil), "gone"),
          ], maxRefusals: 2, session)
      }
      #expect(try await Self.count("device", api) == 3)
      #expect(try await Self.count("push_delivery", api) == 1)
      #expect(try await Self.count("push_delivery WHERE attempts = 1 AND next_at > clock_timestamp()", api) == 1)
      #expect(try await Self.count("device WHERE last_outcome = 'delivered'", api) == 1)
      // The provider reaches the device of eve.
      for left in [3, 2] {
        try await Self.reach(api)
        try await api.pool.transaction { session in
          try PushEnding.record(
            [PushEnding(due[0], .refused, "device_refused"), PushEnding(due[2], .ended, "delivered")], maxRefusals: 2,
            session)
        }
        #expect(try await Self.count("device", api) == left)
      }
      if case .postponed = PushEnding(due[0], until: due[0].expires, "retried").fate {
        Issue.record("what expires is not sent again")
      }
    }
  }

  @Test("what each outcome means for the device and the notification, on each platform")
  func outcomes() async throws {
    let meanings: [(Outcome, counted: String, ofBrowsers: String, fate: String)] = [
      (.delivered(id: "1"), "delivered", "delivered", "ended"),
      (.gone(since: 1), "gone", "gone", "gone"),
      (.deviceRefused("BadDeviceToken"), "device_refused", "device_refused", "refused"),
      (.retry(after: 2, "status 503"), "retried", "retried", "postponed, an attempt"),
      (.unknown("reset"), "unknown", "unknown", "postponed, an attempt"),
      (.credentialsRefused("InvalidProviderToken"), "credentials_refused", "device_refused", "postponed"),
      (.authorizationExpired, "credentials_refused", "device_refused", "postponed"),
      (.refused("PayloadEmpty"), "refused", "refused", "ended"),
      (.expired, "expired", "expired", "ended"),
    ]
    try await Self.with { api in
      try await api.pool.transaction { try Devices.announce([.apns, .fcm, .webPush], webPushKey: nil, $0) }
      for user in ["ada", "bob", "eve"] { try await Self.register(user, "", api) }
      try await api.pool.run { session in
        _ = try session.execute("UPDATE device SET provider = 'apns' WHERE user_id = 'ada'")
        _ = try session.execute(
          "UPDATE device SET provider = 'web_push', p256dh = '', auth = '' WHERE user_id = 'eve'")
      }
      try await Self.openWindow(api)
      let due = try await Self.due(api)
      #expect(Set(due.map(\.platform)) == Set(RegisteredDevice.Platform.allCases))
      for due in due {
        for meaning in meanings {
          let ending = PushEnding(due, meaning.0, now: due.expires - 200)
          let isBrowser = due.platform == .webPush
          #expect(ending.outcome == (isBrowser ? meaning.ofBrowsers : meaning.counted))
          let fate =
            switch ending.fate {
            case .ended: "ended"
            case .gone: "gone"
            case .refused: "refused"
            case .postponed(_, let isAttempt): isAttempt ? "postponed, an attempt" : "postponed"
            }
          #expect(fate == (isBrowser && meaning.fate == "postponed" ? "refused" : meaning.fate), "\(meaning.0)")
        }
      }
    }
  }

  /// The provider reaches a device now.
  private static func reach(_ api: RunningAPI) async throws {
    try await api.pool.run { session in
      _ = try session.execute("UPDATE push_provider SET reached_at = clock_timestamp()")
    }
  }

  @Test("a provider that refuses every device takes none along, whether or not it has reached one before")
  func refusedByAll() async throws {
    try await Self.with { api in
      for user in ["ada", "bob"] { try await Self.register(user, "", api) }
      try await Self.reach(api)
      try await Self.openWindow(api)
      let due = try await Self.due(api)
      for outcome in [Outcome.credentialsRefused("revoked"), .authorizationExpired, .deviceRefused("BadDeviceToken")] {
        for _ in 1...4 {
          try await api.pool.transaction { session in
            try PushEnding.record(
              due.map { PushEnding($0, outcome, now: $0.expires - 200) }, maxRefusals: 3, session)
          }
        }
        let waits = outcome != .deviceRefused("BadDeviceToken")
        #expect(try await Self.count("device", api) == 2)
        #expect(try await Self.count("push_delivery WHERE attempts = 0", api) == (waits ? 2 : 0), "\(outcome)")
      }
    }
  }

  @Test("a shard has a job as long as something is due, and the next time is known")
  func jobs() async throws {
    try await Self.with { api in
      try await Self.register("ada", "", api)
      try await Self.openWindow(api)
      _ = try await Self.due(api)
      #expect(try await Self.count("job WHERE queue = 'push'", api) == 1)
      try await api.pool.run { session in
        _ = try session.execute("DELETE FROM job")
        _ = try session.execute("UPDATE push_delivery SET next_at = clock_timestamp() + interval '1 hour'")
      }
      let next = try await api.pool.transaction { try Devices.enqueueDue($0) }
      #expect(3500...3601 ~= next ?? 0)
      #expect(try await Self.count("job", api) == 0)
    }
  }

  @Test("what is put off is announced to the worker that knows when something is due")
  func announced() async throws {
    try await Self.with { api in
      try await Self.register("ada", "", api)
      try await Self.openWindow(api)
      let due = try #require(try await Self.due(api).first)
      for (ending, isWaking) in [
        (PushEnding(due, until: due.expires - 1, "retried"), true), (PushEnding(due, .ended, "delivered"), false),
      ] {
        let payloads = try await api.notifications { try PushEnding.record([ending], maxRefusals: 2, $0) }
        #expect(payloads.contains("") == isWaking, "\(ending.outcome)")
      }
    }
  }

  @Test("comments of one post that had to wait are one notification, with the number of those that are shown")
  func folded() async throws {
    try await Self.with { api in
      let (one, other) = (try await api.insertPost(by: "ada"), try await api.insertPost(by: "ada"))
      try await Self.register("ada", "", api)
      for user in ["bob", "eve", "kim"] { try await api.comment(on: one, by: user) }
      try await api.comment(on: other, by: "bob")
      #expect(try await Self.due(api).allSatisfy { !$0.isFolded })
      func changed(_ statement: String) async throws -> [DueDelivery] {
        try await api.pool.run { _ = try $0.execute("\(statement)") }
        return try await Self.due(api)
      }
      let due = try await changed("UPDATE push_delivery SET has_waited = true")
      #expect(due.count { $0.isFolded } == 2)
      #expect(
        due.filter { !$0.isFolded }.compactMap(\.notification?.title).sorted() == ["3 comments", "bob commented"])
      let rest = try await changed("UPDATE comment SET is_hidden = true WHERE author = 'kim'")
      let shown = rest.filter { !$0.isFolded && $0.notification != nil }
      #expect(shown.compactMap(\.notification?.title).sorted() == ["2 comments", "bob commented"])
      #expect(rest.count { $0.notification == nil } == 1)
      // One that is sent again stands for as many.
      let newest = try #require(shown.first { $0.notification?.title == "2 comments" })
      try await api.pool.transaction { session in
        let retried = PushEnding(newest, .retry(after: nil, "status 503"), now: newest.expires - 3600)
        let folded = rest.filter(\.isFolded).map { PushEnding($0, .ended, "folded") }
        try PushEnding.record([retried] + folded, maxRefusals: 3, session)
      }
      let again = try await changed("UPDATE push_delivery SET next_at = clock_timestamp()")
      #expect(again.compactMap(\.notification?.title).sorted() == ["2 comments", "bob commented"])
    }
  }

  @Test("a message of the operator's reaches all devices once, each in its language, until it expires")
  func messages() async throws {
    try await Self.with { api in
      try await Self.register("ada", #","locale":"de-AT""#, api)
      try await Self.register("bob", "", api)
      try await Self.register("eve", #","kinds":["comment"]"#, api)
      let quiet = #""quiet_hours":{"from":"00:00","until":"23:59"},"zone":"UTC""#
      try await Self.register("kim", #","kinds":["comment"],"silent_kinds":["message"],\#(quiet)"#, api)
      let operators = [("Authorization", "Bearer t5-operator")]
      _ = try await api.createKey("t5-operator", [.admin])
      let text = #"{"title":"Tonight","body":"Pause"}"#
      let texts = #"{"en":\#(text),"de":{"title":"Heute","body":"Pause"}}"#
      let body = #"{"default_locale":"en","texts":\#(texts),"url":"app://news","expires_in":600}"#
      let path = "/v1/push/messages/\(PublicID.now())"
      let start = Int(Date.now.timeIntervalSince1970)
      for status in [201, 200] {
        #expect(try await UserClient.send("PUT", path, operators, body, api).status == status)
      }
      let sent = Int(Date.now.timeIntervalSince1970)
      let due = try await Self.due(api)
      let shown = due.compactMap(\.notification)
      #expect(shown.filter { $0.style == .alert }.map(\.title).sorted() == ["Heute", "Tonight"])
      #expect(due.count == 3 && shown.count { $0.style == .silent } == 1 && due.allSatisfy { $0.quietEnd == nil })
      #expect(shown.allSatisfy { $0.data == ["url": "app://news"] })
      #expect(due.allSatisfy { start + 599...sent + 601 ~= $0.expires })
      for body in [
        #"{"texts":{}}"#, #"{"texts":{"en":\#(text),"de":\#(text)}}"#, #"{"texts":{"d e":\#(text)}}"#,
        #"{"texts":{"en":{"title":"","body":"a"}}}"#, #"{"texts":{"en":\#(text)},"default_locale":"de"}"#,
        #"{"texts":{"en":\#(text)},"expires_in":1}"#,
      ] {
        let refused = try await UserClient.send("PUT", path, operators, body, api)
        #expect(refused.status == 400, "\(body) \(refused.text)")
      }
    }
  }

  @Test("a device that wants what the service says is passed it in pages, each once, while it is not over")
  func broadcasts() async throws {
    try await Self.with { api in
      func register(_ devices: Range<Int>) async throws {
        try await api.pool.run { session in
          _ = try session.execute(
            """
            INSERT INTO device (user_id, token, provider, address, shard, seen, kinds)
            SELECT 'user ' || n, n, 'fcm', n, 2, 0, CASE n WHEN 7 THEN '{comment}'::text[] END
            FROM generate_series($1::int, $2::int) AS n
            """, .integer(devices.lowerBound), .integer(devices.upperBound - 1))
        }
      }
      func proceed() async throws -> Bool {
        try await api.pool.transaction { try Devices.continueBroadcast(shard: 2, $0) }
      }
      try await register(0..<Devices.broadcastLimit + 1)
      try await Self.openWindow(api)
      _ = try await Events.dispatch(api.pool)
      #expect(try await Self.count("push_delivery", api) == 0)
      #expect(try await Self.count("push_broadcast", api) == 1)
      #expect(try await Self.count("job WHERE queue = 'push'", api) == 1)
      #expect(try await proceed())
      #expect(try await Self.count("push_delivery", api) == Devices.broadcastLimit - 1)
      // Who comes now has the window on the screen.
      try await register(Devices.broadcastLimit + 1..<Devices.broadcastLimit + 3)
      #expect(try await proceed())
      #expect(try await Self.count("push_delivery", api) == Devices.broadcastLimit)
      #expect(try await !proceed())
      try await Self.openWindow(api, closing: -1)
      _ = try await Events.dispatch(api.pool)
      #expect(try await !proceed())
      #expect(try await Self.count("push_delivery", api) == Devices.broadcastLimit)
      #expect(try await api.pool.transaction { try Devices.enqueueDue($0) } == nil)
      // The next one finds nothing of it.
      try await Self.openWindow(api)
      _ = try await Events.dispatch(api.pool)
      #expect(try await Self.count("push_broadcast", api) == 1)
    }
  }

  @Test("each provider has shards of its own, and so have the makers of browsers and the servers that users name")
  func shards() throws {
    func shard(_ body: String, _ token: String = "laptop") throws -> Int {
      guard case .object(let fields) = try JSONReader.value(of: Array(body.utf8), maxDepth: 16, maxValues: 100)
      else { return -1 }
      return PushShards.shard(of: try DeviceDraft(token: token, fields: fields))
    }
    func subscribed(_ endpoint: String) throws -> Int { try shard(DeviceTests.subscription(endpoint)) }
    for other in [
      "push.example.org", "push.example.org:8443", "updates.push.services.mozilla.com.example.org",
      "updates.push.services.mozilla.com:8443",
    ] { #expect(try subscribed("https://\(other)/1") == 4, "\(other)") }
    for maker in [
      "updates.push.services.mozilla.com", "fcm.googleapis.com", "web.push.apple.com", "wns2-am3p.notify.windows.com",
    ] { #expect(try subscribed("https://\(maker)/wpush/v2/1") == 3, "\(maker)") }
    let apple = try (0..<100).map { number in
      try shard(#"{"platform":"apns"}"#, String(repeating: "\(number % 10)\(number / 10)", count: 32))
    }
    let firebase = try (0..<100).map { try shard(#"{"platform":"fcm"}"#, "token \($0)") }
    #expect(Set(apple) == [0, 1] && Set(firebase) == [2])
  }
}
