import Definitions
import HTTPTesting
import Model
import Platform
import Postgres
import PostgresTesting
import Push
import Queue
import Telemetry
import Testing
import WaitTesting

@testable import Kit
@testable import Rooms

@Suite("The sender of notifications", .tags(.database, .network), .timeLimit(.minutes(60)))
struct PushCourierTests {
  private static func courier() throws -> PushCourier {
    let folder = try TemporaryFolder(prefix: "take5-courier")
    let file = "\(folder.path)/vapid.json"
    try Descriptor(writing: file, replacing: true).write(
      Array(#"{"subject":"mailto:ops@example.org","private_key":"q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94"}"#.utf8))
    var configuration = Sender.Configuration()
    configuration.providers = [try WebPush(file: file)]
    configuration.permitted = [try #require(AddressRange("127.0.0.0/8"))]
    configuration.timeout = .seconds(600)
    return try PushCourier(
      configuration, try PushTexts(json: Definitions.notifications, publicURL: nil), Metrics(), Logger { _ in })
  }

  @Test("what becomes due is sent while a server that a user names does not respond")
  func silent() async throws {
    try await UserClient.with { api in
      // One accepts connections and says nothing, and nothing listens on the other one.
      let (silent, closed) = (try LocalSocket.listening(), try LocalSocket.listening().port)
      for (user, port) in [("ada", silent.port), ("bob", closed)] {
        let body = DeviceTests.subscription("https://127.0.0.1:\(port)/1")
        let path = "/v1/users/\(user)/devices/laptop"
        #expect(try await UserClient.send("PUT", path, UserClient.backend, body, api).status == 201)
      }
      let courier = try Self.courier()
      try await api.pool.transaction { try Devices.announce([(.webPush, "")], $0) }
      func openWindow() async throws {
        try await PushFixture.openWindow(api)
        _ = try await Events.dispatch(api.pool)
      }
      try await openWindow()
      let job = try await api.pool.run { session in
        let worker = try JobQueue.register(host: "here", process: 1, session)
        return try #require(try JobQueue.claim(worker: worker, queue: "push", limit: 1, session).first)
      }
      let pool = api.pool
      let isStopped = Locked(false)
      async let delivering = courier.deliver(job, isStopped: { isStopped.withLock { $0 } }, pool)
      let retried = "push_delivery JOIN device ON device.id = device_id WHERE last_outcome = 'retried' AND attempts > 0"
      try await until { try await PushFixture.count(retried, api) == 1 }
      try await openWindow()
      try await until { try await PushFixture.count(retried, api) == 2 }
      #expect(try await PushFixture.count("device WHERE last_outcome IS NULL", api) == 1)
      isStopped.withLock { $0 = true }
      courier.stop()
      _ = try await delivering
      #expect(try await PushFixture.count(retried, api) == 4)
    }
  }

  @Test("a server that a user names has a bound of what is on its way to it, and another one goes past it")
  func crowded() async throws {
    try await UserClient.with { api in
      try await PushFixture.register("ada", "", api)
      try await api.pool.transaction { session in
        try Devices.announce([(.fcm, nil), (.webPush, nil)], session)
        // More than a server may have, and one of another host.
        try session.execute(
          """
          INSERT INTO device (user_id, token, provider, address, p256dh, auth, shard, seen)
          SELECT 'user ' || n, 'laptop', 'web_push', CASE n WHEN 99 THEN 'https://b.example' ELSE 'https://a.example:' || n END || '/1', '', '', 4, 0
          FROM generate_series(1, 99) AS n
          """)
      }
      try await PushFixture.openWindow(api)
      let due = try await PushFixture.due(api)
      var flight = PushFlight()
      var ended: [PushEnding] = []
      for delivery in due {
        if let ending = flight.crowded(delivery, 1000) { ended.append(ending) } else { flight.add(delivery) }
      }
      // 64 of the first host, one of the other one, and the phone.
      #expect(flight.count == 66 && ended.count == 34 && ended.allSatisfy { $0.outcome == "crowded" })
      #expect(ended.allSatisfy { $0.due.host == "a.example" })
    }
  }
}
