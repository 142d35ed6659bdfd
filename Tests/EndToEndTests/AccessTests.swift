import HTTPTesting
import PostgresTesting
import Take5Testing
import Testing
import WaitTesting

/// Which requests are accepted, for every combination of listen address, API keys and origin.
@Suite("Access", .tags(.process))
struct AccessTests {
  /// The API keys of the service.
  enum Keys: String {
    case none
    case active
    case allRevoked = "all revoked"
    case environment = "from the environment"
  }

  /// The origin of a request.
  enum Origin: String, CaseIterable {
    case program = "a program"
    case name127 = "a program with Host 127.0.0.1"
    case ownPage = "a page of its own origin"
    case foreignPage = "a page of another origin"
    case hiddenPage = "a page with Origin null"
    case crossSite = "a cross-site request"
    case rebound = "a page with a foreign Host"
    case forwarded = "a proxy"
    case named = "a proxy with X-Real-IP"

    func headers(port: UInt16) -> [(String, String)] {
      switch self {
      case .program: [("Host", "localhost")]
      case .name127: [("Host", "127.0.0.1:\(port)")]
      case .ownPage: [("Host", "localhost:\(port)"), ("Origin", "http://localhost:\(port)")]
      case .foreignPage: [("Host", "localhost"), ("Origin", "https://example.com")]
      case .hiddenPage: [("Host", "localhost"), ("Origin", "null")]
      case .crossSite: [("Host", "localhost"), ("Sec-Fetch-Site", "cross-site")]
      case .rebound: [("Host", "rebound.example.com")]
      case .forwarded: [("Host", "localhost"), ("X-Forwarded-For", "192.0.2.7")]
      case .named: [("Host", "localhost"), ("X-Real-IP", "192.0.2.7")]
      }
    }
  }

  struct Row: CustomTestStringConvertible, Sendable {
    let address: String
    let keys: Keys
    /// Whether the service starts.
    let starts: Bool
    /// The origins that are accepted without a key.
    let accepted: Set<Origin>

    var testDescription: String { "\(address), keys: \(keys.rawValue)" }
  }

  private static let table = [
    Row(address: "127.0.0.1", keys: .none, starts: true, accepted: [.program, .name127, .ownPage]),
    Row(address: "127.0.0.1", keys: .active, starts: true, accepted: []),
    Row(address: "127.0.0.1", keys: .allRevoked, starts: true, accepted: []),
    Row(address: "127.0.0.1", keys: .environment, starts: true, accepted: []),
    Row(address: "0.0.0.0", keys: .none, starts: false, accepted: []),
    Row(address: "0.0.0.0", keys: .active, starts: true, accepted: []),
    Row(address: "0.0.0.0", keys: .allRevoked, starts: false, accepted: []),
    Row(address: "0.0.0.0", keys: .environment, starts: true, accepted: []),
  ]

  @Test("each combination accepts the origins of the table", arguments: table)
  func combinations(row: Row) async throws {
    let folder = try TemporaryFolder(prefix: "take5-access")
    let data = "\(folder.path)/data"
    var key: String?
    switch row.keys {
    case .none: break
    case .environment: key = "t5-environment"
    case .active: key = try await Self.makeKey(data)
    case .allRevoked:
      _ = try await Self.makeKey(data)
      try await Self.revoke(data)
    }
    let environment = row.keys == .environment ? ["TAKE5_API_KEY": "t5-environment"] : [:]
    guard let (service, port) = try await Self.serve(row.address, data, environment) else {
      #expect(!row.starts)
      return
    }
    #expect(row.starts)
    for origin in Origin.allCases {
      for (method, path) in [("GET", "/v1/posts"), ("GET", "/metrics"), ("POST", "/v1/posts/search"), ("GET", "/x")] {
        let isAccepted = try await Self.isAccepted(method, path, origin, port: port)
        #expect(isAccepted == row.accepted.contains(origin), "\(method) \(path) from \(origin.rawValue)")
        // With a key every origin is accepted.
        if let key {
          #expect(try await Self.isAccepted(method, path, origin, key: key, port: port), "\(method) \(path)")
        }
      }
      #expect(try await Self.isAccepted("GET", "/livez", origin, port: port))
    }
    await service.send(signal: 15)
    #expect(await service.wait() == 0)
    #expect(!service.log.contains("t5-environment"))
  }

  @Test("after the last key is revoked, a running service refuses all requests", arguments: ["127.0.0.1", "0.0.0.0"])
  func revoked(address: String) async throws {
    let folder = try TemporaryFolder(prefix: "take5-access")
    let data = "\(folder.path)/data"
    let key = try await Self.makeKey(data)
    let (service, port) = try #require(try await Self.serve(address, data))
    #expect(try await Self.isAccepted("GET", "/metrics", .program, key: key, port: port))
    try await Self.revoke(data)
    try await until { try await !Self.isAccepted("GET", "/metrics", .program, key: key, port: port) }
    for (method, path) in [("GET", "/v1/posts"), ("GET", "/metrics"), ("POST", "/v1/posts/search")] {
      #expect(try await !Self.isAccepted(method, path, .program, port: port), "\(method) \(path)")
    }
    await service.send(signal: 15)
    #expect(await service.wait() == 0)
  }

  /// Starts the service; nil if it refuses to start without a key.
  private static func serve(
    _ address: String, _ data: String, _ environment: [String: String] = [:]
  ) async throws -> (RunningTake5, UInt16)? {
    let service = try RunningTake5()
    let url = try await service.start(
      ["serve", "--listen", "\(address):0", "--slots", "0", "--data", data], environment: environment)
    if let port = url.split(separator: ":").last.flatMap({ UInt16($0) }) { return (service, port) }
    #expect(await service.wait() == 64, "\(service.log)")
    #expect(service.log.contains("the service has no API key"))
    return nil
  }

  private static func makeKey(_ data: String) async throws -> String {
    #expect(try await Take5Command.run(["init", "--data", data]).status == 0)
    let created = try await Take5Command.run(
      ["keys", "create", "test", "--scopes", "submit,read,change,delete,admin", "--json", "--data", data])
    try #require(created.status == 0, "\(created)")
    return try #require(
      created.output.split(separator: #""key":""#).last?.split(separator: "\"").first.map(String.init))
  }

  private static func revoke(_ data: String) async throws {
    #expect(try await Take5Command.run(["keys", "revoke", "1", "--data", data]).status == 0)
  }

  private static func isAccepted(
    _ method: String, _ path: String, _ origin: Origin, key: String? = nil, port: UInt16
  ) async throws -> Bool {
    var head = "\(method) \(path) HTTP/1.1\r\n"
    for (name, value) in origin.headers(port: port) { head += "\(name): \(value)\r\n" }
    if let key { head += "Authorization: Bearer \(key)\r\n" }
    if method == "POST" { head += "Content-Type: application/json\r\nContent-Length: 2\r\n" }
    let status = try await exchange(head + "\r\n" + (method == "POST" ? "{}" : ""), port: port).status
    return status != 401 && status != 403
  }

  @Test("a key is revoked by its name, unless several valid keys have it; the secret of URLs changes on purpose")
  func keyNames() async throws {
    let service = try await Service(workers: 0)
    func take5(_ arguments: String...) async throws -> Take5Command {
      try await Take5Command.run(arguments + ["--data", service.data])
    }
    for name in ["app", "backup", "app"] { #expect(try await take5("keys", "create", name).status == 0) }
    let ambiguous = try await take5("keys", "revoke", "app")
    #expect(ambiguous.status == 64, "\(ambiguous)")
    #expect(ambiguous.errors.contains("1  app  ") && ambiguous.errors.contains("3  app  "), "\(ambiguous)")
    #expect(try await take5("keys", "revoke", "backup").output == "key 2 is revoked\n")
    #expect(try await take5("keys", "revoke", "1").output == "key 1 is revoked\n")
    // One of the name is left.
    #expect(try await take5("keys", "revoke", "app").output == "key 3 is revoked\n")
    #expect(try await take5("keys", "revoke", "none").status == 66)

    let secrets = "SELECT count(*) FROM signing_key WHERE retires_at IS NULL OR retires_at > now()"
    let newest = "SELECT max(id) FROM signing_key"
    let before = try await service.count(newest)
    let former = try await take5("keys", "rotate")
    #expect(former.status == 64 && former.errors.contains("rotate-signing"), "\(former)")
    #expect(former.errors.contains("take5 keys create") && former.errors.contains("take5 keys revoke"), "\(former)")
    let asked = try await take5("keys", "rotate-signing")
    #expect(asked.status == 64 && asked.errors.contains("become invalid at once"), "\(asked)")
    #expect(try await service.count(newest) == before)
    #expect(try await take5("keys", "rotate-signing", "--keep").status == 0)
    #expect(try await service.count(secrets) == 2)
    #expect(try await take5("keys", "rotate-signing", "--yes").status == 0)
    #expect(try await service.count(secrets) == 1)
    #expect(try await service.count(newest) == before + 2)
    try await service.stop()
  }
}
