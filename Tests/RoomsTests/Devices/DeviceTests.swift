import HTTPTesting
import Model
import Postgres
import PostgresTesting
import Push
import Testing

@testable import Kit
@testable import Rooms

@Suite("Devices for notifications", .tags(.database, .network), .timeLimit(.minutes(60)))
struct DeviceTests {
  static let path = "/v1/users/ada/devices"
  static let apple = String(repeating: "0a", count: 32)
  /// The keys of RFC 8291, section 5.
  static let keys = #"""
    {"p256dh":"BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
    "auth":"BTBZMqHH6r4Tts7J_aSIgg"}
    """#

  static func subscription(_ endpoint: String) -> String {
    #"{"platform":"web_push","subscription":{"endpoint":"\#(endpoint)","expirationTime":null,"keys":\#(keys)}}"#
  }

  private static func send(
    _ api: RunningAPI, _ method: String, _ path: String, _ body: String? = nil,
    _ credential: [(String, String)] = UserClient.backend
  ) async throws -> ClientResponse { try await UserClient.send(method, path, credential, body, api) }

  private static func tokens(_ api: RunningAPI, of user: String = "ada") async throws -> [String] {
    try await send(api, "GET", "/v1/users/\(user)/devices", nil, UserClient.backend + [("Take5-User", user)])
      .json["items"].elements.compactMap { $0["token"].text }
  }

  @Test("of users who register one device at once, each succeeds, and one of them has the device")
  func meeting() async throws {
    try await UserClient.with { api in
      let users = (0..<8).map { "user-\($0)" }
      for _ in 0..<5 {
        let statuses = try await withThrowingTaskGroup { group in
          for user in users {
            group.addTask {
              try await Self.send(
                api, "PUT", "/v1/users/\(user)/devices/\(Self.apple)", #"{"platform":"apns"}"#
              ).status
            }
          }
          return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(statuses.allSatisfy { $0 == 200 || $0 == 201 }, "\(statuses)")
      }
      var owners = 0
      for user in users { owners += try await Self.tokens(api, of: user).count }
      #expect(owners == 1)
    }
  }

  @Test("a device is registered once, changed by a repetition, listed, and removed")
  func registering() async throws {
    try await UserClient.with { api in
      let body = #"""
        {"platform":"apns","locale":"de_AT","zone":"Europe/Vienna","kinds":["window_opened","comment"],
        "quiet_hours":{"from":"22:00","until":"07:30"}}
        """#
      let created = try await Self.send(api, "PUT", "\(Self.path)/\(Self.apple)", body)
      #expect(created.status == 201, "\(created.text)")
      #expect(created.json["quiet_hours"]["until"] == .string("07:30"))
      let version = { (response: ClientResponse) in response.headers["etag"]?.split(separator: ".").first }
      let repeated = try await Self.send(api, "PUT", "\(Self.path)/\(Self.apple)", body)
      #expect(repeated.status == 200 && version(repeated) == version(created))
      let changed = try await Self.send(api, "PUT", "\(Self.path)/\(Self.apple)", #"{"platform":"apns"}"#)
      #expect(changed.json["kinds"] == .null && changed.json["zone"] == .null)
      #expect(try await Self.tokens(api) == [Self.apple])
      // A client that acts as no user does not learn what addresses the phone.
      let seen = try await Self.send(api, "GET", Self.path)
      #expect(!seen.text.contains(Self.apple) && seen.json["items"].elements.count == 1)
      #expect(try await Self.send(api, "DELETE", "\(Self.path)/\(Self.apple)").status == 204)
      let missing = try await Self.send(api, "DELETE", "\(Self.path)/\(Self.apple)")
      #expect(missing.status == 404 && UserClient.kind(missing) == "device_not_found")
    }
  }

  @Test(
    "what no provider, zone, kind or clock has is refused",
    arguments: [
      (apple, #"{"platform":"pigeon"}"#), ("zz", #"{"platform":"apns"}"#),
      (apple, #"{"platform":"apns","zone":"Europe/Atlantis"}"#), (apple, #"{"platform":"apns","locale":"de AT"}"#),
      (apple, #"{"platform":"apns","kinds":["case_opened"]}"#),
      (apple, #"{"platform":"apns","quiet_hours":{"from":"22:00","until":"07:00"}}"#),
      (apple, #"{"platform":"apns","zone":"UTC","quiet_hours":{"from":"24:00","until":"07:00"}}"#),
      (apple, #"{"platform":"apns","zone":"UTC","quiet_hours":{"from":"07:00","until":"07:00"}}"#),
      ("phone", #"{"platform":"web_push"}"#), ("phone", subscription("http://push.example.org/1")),
      ("phone", subscription("https://push.example.org/1").replacing("BTBZ", with: "B")),
    ])
  func refused(token: String, body: String) async throws {
    try await UserClient.with { api in
      let response = try await Self.send(api, "PUT", "\(Self.path)/\(token)", body)
      #expect(response.status == 400 && UserClient.kind(response) == "invalid_fields", "\(response.text)")
    }
  }

  @Test("a device belongs to the user who registered it last, whatever it is called")
  func moving() async throws {
    try await UserClient.with { api in
      for (path, body) in [
        (Self.path + "/f1", #"{"platform":"fcm"}"#), ("/v1/users/bob/devices/f1", #"{"platform":"fcm"}"#),
        (Self.path + "/laptop", Self.subscription("https://push.example.org/1")),
        (Self.path + "/desk", Self.subscription("https://push.example.org/1")),
      ] {
        let saved = try await Self.send(api, "PUT", path, body)
        #expect(saved.status == 201, "\(saved.text)")
      }
      #expect(try await Self.tokens(api) == ["desk"])
      #expect(try await Self.tokens(api, of: "bob") == ["f1"])
    }
  }

  @Test("a user has at most 20 devices and 5 subscriptions: the ones that registered first go")
  func limits() async throws {
    try await UserClient.with { api in
      for number in 0..<22 {
        _ = try await Self.send(api, "PUT", "\(Self.path)/f\(number)", #"{"platform":"fcm"}"#)
      }
      #expect(try await Self.tokens(api) == (2..<22).map { "f\($0)" })
      for number in 0..<6 {
        let body = Self.subscription("https://push.example.org/\(number)")
        _ = try await Self.send(api, "PUT", "\(Self.path)/web\(number)", body)
      }
      let kept = try await Self.tokens(api)
      #expect(kept.count == 20 - 1 && kept.filter { $0.hasPrefix("web") } == (1..<6).map { "web\($0)" })
    }
  }

  @Test("a device goes with the token that registered it, and with the suspension of its user")
  func signOut() async throws {
    try await ModerationTests.with { api in
      func token() async throws -> [(String, String)] {
        try UserClient.bearer(try await Self.send(api, "POST", "/v1/users/ada/tokens", "{}"))
      }
      let (phone, tablet) = (try await token(), try await token())
      for (name, credential) in [("phone", phone), ("tablet", tablet), ("other", UserClient.backend)] {
        let response = try await Self.send(api, "PUT", "\(Self.path)/\(name)", #"{"platform":"fcm"}"#, credential)
        #expect(response.status == 201)
      }
      #expect(try await Self.send(api, "DELETE", "/v1/tokens/current", nil, phone).status == 204)
      #expect(try await Self.tokens(api) == ["tablet", "other"])
      #expect(try await Self.send(api, "DELETE", "/v1/users/ada/tokens").status == 204)
      #expect(try await Self.tokens(api) == ["other"])
      _ = try await UserClient.post(api)
      try await ModerationTests.decide(api, #""user":"ada""#, "suspend")
      #expect(try await api.pool.run { try Devices.list(of: "ada", $0) }.isEmpty)
    }
  }

  @Test("browsers get the key of the workers that send to them")
  func vapidKey() async throws {
    try await UserClient.with { api in
      let missing = try await api.get("/v1/push/vapid-key")
      #expect(missing.status == 404 && UserClient.kind(missing) == "vapid_key_not_found")
      try await api.pool.transaction { try Devices.announce([(.webPush, "BKey")], $0) }
      #expect(try await api.get("/v1/push/vapid-key").json["key"] == .string("BKey"))
    }
  }
}
