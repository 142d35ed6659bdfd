import Definitions
import HTTPServer
import HTTPTesting
import Kit
import Model
import Platform
import Postgres
import PostgresTesting
import Push
import Queue
import Store
import Telemetry
import Testing

@testable import Rooms

@Suite("The list of push services", .tags(.database, .network), .timeLimit(.minutes(60)))
struct PushProviderTests {
  private static let platforms = ProviderKind.allCases + [.pager]

  private static func draft(
    _ token: String = "5550100", _ fields: [String: JSONValue] = [:], of platforms: [ProviderKind] = platforms
  ) throws(Problem) -> DeviceDraft {
    try DeviceDraft(
      token: token, fields: fields.merging(["platform": .string("pager")]) { $1 }, platforms: platforms)
  }

  @Test("each push service has a name and shards of its own, and each shard has a push service")
  func shards() {
    #expect(Set(Self.platforms.map(\.name)).count == Self.platforms.count)
    #expect(Self.platforms.flatMap { Array($0.type.shards) }.sorted() == Array(0...PushShards.count))
    for platform in Self.platforms {
      for address in ["5550100", "0a0b", "https://push.example.org/1", "https://web.push.apple.com/1"] {
        #expect(platform.type.shards.contains(platform.type.shard(ofAddress: address)), "\(platform.name) \(address)")
      }
    }
  }

  @Test("a device registers with a push service that is in the list, by a token that this one accepts")
  func registering() throws {
    let draft = try Self.draft()
    #expect(draft.platform == .pager && draft.address == "5550100" && draft.keys == nil)
    #expect(PushShards.shard(of: draft) == PushShards.count)
    let refused: [(String, () throws -> DeviceDraft)] = [
      ("web_push", { try Self.draft(of: ProviderKind.allCases) }),
      ("the number of a pager is 4 to 10 digits", { try Self.draft("nine") }),
      ("is for apns", { try Self.draft("5550100", ["environment": .string("production")]) }),
      ("is for fcm", { try Self.draft("5550100", ["as_data": .boolean(true)]) }),
      ("is for web_push", { try Self.draft("5550100", ["subscription": .object(["keys": .object([:])])]) }),
    ]
    for (reason, read) in refused {
      let problem = #expect(throws: Problem.self, "\(reason)") { _ = try read() }
      #expect(problem.map { "\($0.members)".contains(reason) } == true, "\(reason)")
    }
  }

  @Test("what is due for a device of a push service in the list is sent to its server, and counted by its name")
  func delivering() async throws {
    try await UserClient.with { api in
      let draft = try Self.draft()
      let shard = PushShards.shard(of: draft)
      let job = try await api.pool.transaction { session in
        // What the migration of another push service does.
        try session.execute("ALTER TABLE device DROP CONSTRAINT device_provider_check")
        try Devices.announce([.pager], webPushKey: nil, session)
        try session.execute(
          """
          INSERT INTO device (user_id, token, provider, address, shard, seen)
          VALUES ('ada', 'pager', $1, $2, $3::smallint, 0)
          """, .text(draft.platform.name), .text(draft.address), .integer(shard))
        _ = try Relations.relate("bob", .friend, to: "ada", for: .unrestricted, session)
        try JobQueue.ensure(PushShards.job(of: shard), session)
        let worker = try JobQueue.register(host: "here", process: 1, session)
        return try #require(try JobQueue.claim(worker: worker, queue: PushShards.queue, limit: 1, session).first)
      }
      _ = try await Events.dispatch(api.pool)
      #expect(try await PushFixture.count("push_delivery WHERE shard = \(shard)", api) == 1)

      // A port that nothing listens on.
      let port = try LocalSocket.listening().port
      var configuration = Sender.Configuration()
      configuration.providers = [Pager(file: "", origin: Origin(host: "127.0.0.1", port: port))]
      let metrics = Metrics()
      let courier = try PushCourier(
        configuration, try PushTexts(json: Definitions.notifications, publicURL: nil), metrics, Logger { _ in },
        platforms: Self.platforms)
      defer { courier.stop() }
      #expect(metrics.text().contains(#"take5_push_total{outcome="credentials_refused",provider="pager"} 0"#))
      _ = try await courier.deliver(job, isStopped: { false }, api.pool)
      #expect(metrics.text().contains(#"take5_push_total{outcome="retried",provider="pager"} "#))
      #expect(try await PushFixture.count("device WHERE last_outcome = 'retried'", api) == 1)
      #expect(try await PushFixture.count("push_delivery WHERE attempts > 0", api) == 1)
    }
  }
}
