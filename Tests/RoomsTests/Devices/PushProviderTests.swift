import Definitions
import HTTPServer
import HTTPTesting
import Model
import Platform
import Postgres
import PostgresTesting
import Store
import Telemetry
import Testing

@testable import Kit
@testable import Push
@testable import Queue
@testable import Rooms

@Suite("The list of push services", .tags(.database, .network), .timeLimit(.minutes(60)))
struct PushProviderTests {
  private static let platforms = ProviderKind.allCases + [.pager, .kiosk]

  private static func draft(
    _ token: String = "5550100", _ fields: [String: JSONValue] = [:], of platforms: [ProviderKind] = platforms
  ) throws(Problem) -> DeviceDraft {
    try DeviceDraft(
      token: token, fields: fields.merging(["platform": .string("pager")]) { $1 }, platforms: platforms)
  }

  @Test("each push service has a name and shards of its own, and each shard has a push service")
  func shards() {
    #expect(Set(Self.platforms.map(\.name)).count == Self.platforms.count)
    #expect(Self.platforms.flatMap { Array($0.type.shards) }.sorted() == Array(0...PushShards.count + 1))
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

  @Test("the table takes devices of each push service in the list, with both keys or none")
  func table() async throws {
    try await UserClient.with { api in
      func insert(_ provider: String, in environment: String? = nil, _ p256dh: String?, _ auth: String?) async throws {
        try await api.pool.run { session in
          _ = try session.execute(
            """
            INSERT INTO device (user_id, token, provider, address, p256dh, auth, shard, seen, environment)
            VALUES ('ada', $2, $1, $2, $3, $4, 0, 0, $5)
            """, .text(provider), .text("\(provider) \(environment ?? "")"), .text(p256dh), .text(auth),
            .text(environment))
        }
      }
      for platform in Self.platforms {
        let environments: [String?] = [nil] + platform.type.environments.map { Optional($0) }
        for environment in environments {
          let key = platform.type.isOfBrowsers ? "" : nil
          try await insert(platform.name, in: environment, key, key)
        }
      }
      let refused: [(name: String, environment: String?, p256dh: String?, auth: String?)] = [
        ("Other", nil, nil, nil), ("", nil, nil, nil), ("other", "Production", nil, nil), ("other", nil, "", nil),
        ("other", nil, nil, ""),
      ]
      for row in refused {
        let error = await #expect(throws: PostgresError.self, "\(row)") {
          try await insert(row.name, in: row.environment, row.p256dh, row.auth)
        }
        #expect(error?.sqlState == "23514", "\(row)")
      }
    }
  }

  private static func courier(
    _ providers: [any Provider], _ metrics: Metrics = Metrics(), of platforms: [ProviderKind] = platforms
  ) throws -> PushCourier {
    var configuration = Sender.Configuration()
    configuration.providers = providers
    return try PushCourier(
      configuration, try PushTexts(json: Definitions.notifications, publicURL: nil), metrics, Logger { _ in },
      platforms: platforms)
  }

  @Test("browsers get the key of their own push service, whichever is listed first")
  func keys() async throws {
    try await UserClient.with { api in
      let webPush = WebPush(subject: "mailto:ops@example.org", key: .generated())
      let courier = try Self.courier([Kiosk(file: "", origin: nil), Pager(file: "", origin: nil), webPush])
      defer { courier.stop() }
      _ = try await courier.announcing.body(api.pool)
      let keys: [ProviderKind: String] = [.webPush: webPush.publicKey, .kiosk: "the key of kiosks"]
      for platform in Self.platforms {
        let key = try await api.pool.run { try Devices.subscriptionKey(of: platform, $0) }
        #expect(key == keys[platform], "\(platform.name)")
      }
      #expect(try await api.get("/v1/push/vapid-key").json["key"] == .string(webPush.publicKey))
    }
  }

  /// Registers a pager, for which something is due once it is dispatched; returns the job of its shard, which a worker has.
  private static func register(_ api: RunningAPI) async throws -> ClaimedJob {
    let draft = try Self.draft()
    return try await api.pool.transaction { session in
      try Devices.announce([(.pager, nil)], session)
      _ = try Devices.save(draft, named: "pager", of: "ada", by: .anonymous, zones: KnownTimeZones(), session) { _ in }
      _ = try Relations.relate("bob", .friend, to: "ada", for: .unrestricted, session)
      try JobQueue.ensure(PushShards.job(of: PushShards.shard(of: draft)), session)
      let worker = try JobQueue.register(host: "here", process: 1, session)
      return try #require(try JobQueue.claim(worker: worker, queue: PushShards.queue, limit: 1, session).first)
    }
  }

  @Test("what is due for a device of a push service in the list is sent to its server, and counted by its name")
  func delivering() async throws {
    try await UserClient.with { api in
      let job = try await Self.register(api)
      _ = try await Events.dispatch(api.pool)
      #expect(try await PushFixture.count("push_delivery WHERE shard = \(PushShards.count)", api) == 1)

      // A port that nothing listens on.
      let port = try LocalSocket.listening().port
      let metrics = Metrics()
      let courier = try Self.courier([Pager(file: "", origin: Origin(host: "127.0.0.1", port: port))], metrics)
      defer { courier.stop() }
      #expect(metrics.text().contains(#"take5_push_total{outcome="credentials_refused",provider="pager"} 0"#))
      _ = try await courier.deliver(job, isStopped: { false }, api.pool)
      #expect(metrics.text().contains(#"take5_push_total{outcome="retried",provider="pager"} "#))
      #expect(try await PushFixture.count("device WHERE last_outcome = 'retried'", api) == 1)
      #expect(try await PushFixture.count("push_delivery WHERE attempts > 0", api) == 1)
    }
  }

  @Test("a version without a push service lists its devices, and leaves what is due for them to a newer worker")
  func unknown() async throws {
    try await UserClient.with { api in
      let job = try await Self.register(api)
      try await PushFixture.openWindow(api)
      _ = try await Events.dispatch(api.pool)
      let courier = try Self.courier([], of: ProviderKind.allCases)
      defer { courier.stop() }
      let error = await #expect(throws: StoreError.self) {
        _ = try await courier.deliver(job, isStopped: { false }, api.pool)
      }
      #expect(error?.mayBeNewer == true)
      for due in ["push_delivery WHERE attempts = 0 AND next_at <= clock_timestamp()", "push_broadcast"] {
        #expect(try await PushFixture.count("\(due)", api) == 1, "\(due)")
      }
      #expect(try await PushFixture.count("row_set_aside", api) == 0)
      // It has the job made for newer workers.
      try await api.pool.run { session in _ = try session.execute("DELETE FROM job") }
      _ = try await Events.dispatch(api.pool)
      #expect(try await PushFixture.count("job WHERE queue = '\(PushShards.queue)'", api) == 1)

      let path = "/v1/users/ada/devices"
      let list = try await UserClient.send(api, "GET", path, as: "ada")
      #expect(list.json["items"].elements.map { $0["platform"].text } == ["pager"], "\(list.text)")
      #expect(try await UserClient.send(api, "DELETE", "\(path)/pager", as: "ada").status == 204)
    }
  }
}
