import HTTPServer
import HTTPTesting
import Model
import Testing

@testable import ControlAPI

/// What is open, in every combination of address, keys and origin.
@Suite("Doors", .tags(.database, .network), .timeLimit(.minutes(10)))
struct DoorTests {
  /// A way to run the service.
  enum Keys: String, CaseIterable {
    case none
    case active
    case allRevoked = "all revoked"
    case environment = "from the environment"
  }

  /// Where a request comes from.
  enum Origin: String, CaseIterable {
    case program = "a program"
    case name127 = "a program that says 127.0.0.1"
    case ownPage = "a page of its own origin"
    case foreignPage = "a page of another origin"
    case hiddenPage = "a page without an origin"
    case crossSite = "a request across sites"
    case rebound = "a page under a foreign name"

    var headers: [(String, String)] {
      switch self {
      case .program: [("Host", "localhost")]
      case .name127: [("Host", "127.0.0.1:8080")]
      case .ownPage: [("Host", "localhost:8080"), ("Origin", "http://localhost:8080")]
      case .foreignPage: [("Host", "localhost"), ("Origin", "https://example.com")]
      case .hiddenPage: [("Host", "localhost"), ("Origin", "null")]
      case .crossSite: [("Host", "localhost"), ("Sec-Fetch-Site", "cross-site")]
      case .rebound: [("Host", "rebound.example.com")]
      }
    }
  }

  struct Row: CustomTestStringConvertible, Sendable {
    let isLoopback: Bool
    let keys: Keys
    /// Who is answered without a key.
    let open: Set<Origin>

    var testDescription: String { "\(isLoopback ? "loopback" : "all addresses"), keys: \(keys.rawValue)" }
  }

  private static let table = [
    Row(isLoopback: true, keys: .none, open: [.program, .name127, .ownPage]),
    Row(isLoopback: true, keys: .active, open: []),
    Row(isLoopback: true, keys: .allRevoked, open: []),
    Row(isLoopback: true, keys: .environment, open: []),
    // No service starts so, and one whose keys are gone while it runs closes.
    Row(isLoopback: false, keys: .none, open: []),
    Row(isLoopback: false, keys: .active, open: []),
    Row(isLoopback: false, keys: .allRevoked, open: []),
    Row(isLoopback: false, keys: .environment, open: []),
  ]

  private static func ask(
    _ method: String, _ path: String, _ origin: Origin, key: String? = nil, of api: RunningAPI
  ) async throws -> Int {
    var head = "\(method) \(path) HTTP/1.1\r\n"
    for (name, value) in origin.headers { head += "\(name): \(value)\r\n" }
    if let key { head += "Authorization: Bearer \(key)\r\n" }
    if method == "POST" { head += "Content-Type: application/json\r\nContent-Length: 2\r\n" }
    return try await exchange(head + "\r\n" + (method == "POST" ? "{}" : ""), port: api.port).status
  }

  @Test("what is open is what the table says", arguments: table)
  func doors(row: Row) async throws {
    var setting = RunningAPI.Setting(key: row.keys == .environment ? "t5-environment" : nil)
    setting.isLoopback = row.isLoopback
    try await RunningAPI.with(setting) { api in
      var key: String? = setting.key
      if row.keys == .active || row.keys == .allRevoked {
        let id = try await api.keep("t5-key", Set(Scope.allCases))
        if row.keys == .active { key = "t5-key" } else { try await api.revoke(id) }
      }
      for origin in Origin.allCases {
        for (method, path) in [("GET", "/v1/posts"), ("GET", "/metrics"), ("POST", "/v1/posts/search"), ("GET", "/x")] {
          let status = try await Self.ask(method, path, origin, of: api)
          let isClosed = status == 401 || status == 403
          #expect(isClosed == !row.open.contains(origin), "\(method) \(path) from \(origin.rawValue): \(status)")
          // A key is what no page of a stranger's has.
          if let key {
            let status = try await Self.ask(method, path, origin, key: key, of: api)
            #expect(status != 401 && status != 403, "\(method) \(path) from \(origin.rawValue) with a key: \(status)")
          }
        }
        #expect(try await Self.ask("GET", "/livez", origin, of: api) == 200)
      }
    }
  }
}
