import HTTPTesting
import PostgresTesting
import Take5Testing
import Testing

/// A service with accounts, an attacker with a user token, and a healthy client.
struct AttackScene: Sendable {
  private static let key = "t5-attackers"

  let service: Service
  let api: API
  let token: String
  let healthy: HealthyClient

  init(
    _ more: [String] = [], program: String = Take5Binary.path, in folder: TemporaryFolder? = nil
  ) async throws {
    service = try await Service(
      workers: 0, ["--accounts", "on"] + more, program: program, environment: ["TAKE5_API_KEY": Self.key], in: folder)
    api = try service.api()
    token = try await Self.token(of: "mallory", api.port)
    healthy = HealthyClient(port: api.port, token: try await Self.token(of: "hal", api.port))
  }

  private static func token(of user: String, _ port: UInt16) async throws -> String {
    let response = try await request(
      "POST", "/v1/users/\(user)/tokens", port: port,
      headers: [("Authorization", "Bearer \(Self.key)"), ("Content-Type", "application/json")],
      body: Array("{}".utf8))
    return try #require(API.Response(response: response)["token"]?.text)
  }

  func attacker(from address: String = "127.0.0.66") -> Attacker {
    Attacker(port: api.port, from: address, token: token)
  }

  func stop() async throws { #expect(try await service.stop() == 0) }
}

/// Another client than the attacker, with an address and a token of its own.
struct HealthyClient: Sendable {
  let port: UInt16
  let token: String

  /// Reads, writes and asks whether the service lives; all of it succeeds.
  func isServed() throws -> Bool {
    var statuses: [Int] = []
    for _ in 0..<5 {
      for (request, body) in [
        ("GET /livez HTTP/1.1", ""), ("GET /v1/posts?limit=5 HTTP/1.1", ""), ("GET /v1/users/hal/feed HTTP/1.1", ""),
        ("POST /v1/posts HTTP/1.1", #"{"kind":"marker","title":"Here"}"#),
      ] {
        var connection = try ClientConnection(port: port, from: "127.0.0.77")
        let type = body.isEmpty ? "" : "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n"
        try connection.send("\(request)\r\nHost: localhost\r\nAuthorization: Bearer \(token)\r\n\(type)\r\n\(body)")
        statuses.append(try connection.receive().status)
      }
    }
    return statuses.allSatisfy { $0 == 200 || $0 == 201 }
  }
}
