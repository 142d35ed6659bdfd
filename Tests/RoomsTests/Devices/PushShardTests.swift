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

@Suite("The shards of what is due to devices", .tags(.database, .network), .timeLimit(.minutes(60)))
struct PushShardTests {
  @Test("a shard has a job as long as something is due, and the next time is known")
  func jobs() async throws {
    try await PushFixture.with { api in
      try await PushFixture.register("ada", "", api)
      try await PushFixture.openWindow(api)
      _ = try await PushFixture.due(api)
      #expect(try await PushFixture.count("job WHERE queue = 'push'", api) == 1)
      try await api.pool.run { session in
        _ = try session.execute("DELETE FROM job")
        _ = try session.execute("UPDATE push_delivery SET next_at = clock_timestamp() + interval '1 hour'")
      }
      let next = try await api.pool.transaction { try Devices.enqueueDue($0) }
      #expect(3500...3601 ~= next ?? 0)
      #expect(try await PushFixture.count("job", api) == 0)
    }
  }

  @Test("what is put off is announced to the worker that knows when something is due")
  func announced() async throws {
    try await PushFixture.with { api in
      try await PushFixture.register("ada", "", api)
      try await PushFixture.openWindow(api)
      let due = try #require(try await PushFixture.due(api).first)
      for (ending, isWaking) in [
        (PushEnding(due, until: due.expires - 1, "retried"), true), (PushEnding(due, .ended, "delivered"), false),
      ] {
        let payloads = try await api.notifications { try PushEnding.record([ending], maxRefusals: 2, $0) }
        #expect(payloads.contains("") == isWaking, "\(ending.outcome)")
      }
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
