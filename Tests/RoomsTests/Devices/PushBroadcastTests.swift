import FoundationEssentials
import HTTPTesting
import Model
import Postgres
import PostgresTesting
import Push
import Store
import Testing

@testable import Kit
@testable import Rooms

@Suite("Notifications to all devices", .tags(.database, .network), .timeLimit(.minutes(60)))
struct PushBroadcastTests {
  @Test("a message of the operator's reaches all devices once, each in its language, until it expires")
  func messages() async throws {
    try await PushFixture.with { api in
      try await PushFixture.register("ada", #","locale":"de-AT""#, api)
      try await PushFixture.register("bob", "", api)
      try await PushFixture.register("eve", #","kinds":["comment"]"#, api)
      let quiet = #""quiet_hours":{"from":"00:00","until":"23:59"},"zone":"UTC""#
      try await PushFixture.register("kim", #","kinds":["comment"],"silent_kinds":["message"],\#(quiet)"#, api)
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
      let due = try await PushFixture.due(api)
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
    try await PushFixture.with { api in
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
      try await PushFixture.openWindow(api)
      _ = try await Events.dispatch(api.pool)
      #expect(try await PushFixture.count("push_delivery", api) == 0)
      #expect(try await PushFixture.count("push_broadcast", api) == 1)
      #expect(try await PushFixture.count("job WHERE queue = 'push'", api) == 1)
      #expect(try await proceed())
      #expect(try await PushFixture.count("push_delivery", api) == Devices.broadcastLimit - 1)
      // Who comes now has the window on the screen.
      try await register(Devices.broadcastLimit + 1..<Devices.broadcastLimit + 3)
      #expect(try await proceed())
      #expect(try await PushFixture.count("push_delivery", api) == Devices.broadcastLimit)
      #expect(try await !proceed())
      try await PushFixture.openWindow(api, closing: -1)
      _ = try await Events.dispatch(api.pool)
      #expect(try await !proceed())
      #expect(try await PushFixture.count("push_delivery", api) == Devices.broadcastLimit)
      #expect(try await api.pool.transaction { try Devices.enqueueDue($0) } == nil)
      // The next one finds nothing of it.
      try await PushFixture.openWindow(api)
      _ = try await Events.dispatch(api.pool)
      #expect(try await PushFixture.count("push_broadcast", api) == 1)
    }
  }
}
