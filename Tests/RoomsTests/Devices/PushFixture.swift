import Definitions
import HTTPTesting
import Model
import Postgres
import PostgresTesting
import Push
import Store
import Testing
import WaitTesting

@testable import Kit
@testable import Rooms

/// Phones of users, and what is due for them.
enum PushFixture {
  static func with(_ body: (RunningAPI) async throws -> Void) async throws {
    try await UserClient.with { api in
      try await api.pool.transaction { try Devices.announce([(.fcm, nil)], $0) }
      try await body(api)
    }
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

  private static func texts() throws -> PushTexts {
    try PushTexts(json: Definitions.notifications, publicURL: "https://take5.example.org")
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

  /// The provider reaches a device now.
  static func reach(_ api: RunningAPI) async throws {
    try await api.pool.run { session in
      _ = try session.execute("UPDATE push_provider SET reached_at = clock_timestamp()")
    }
  }

  static func count(_ table: String, _ api: RunningAPI) async throws -> Int {
    try await api.pool.run { try $0.execute("SELECT count(*) FROM \(table)").single().get(0) }
  }
}
