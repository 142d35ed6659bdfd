internal import HTTPTesting
internal import Platform

/// Measures the latency of one client while another address holds many connections, and the memory of a connection.
struct CrowdBench: Sendable {
  private static let idle = 5000
  private static let dripping = 500
  private static let requests = 1000
  /// The connections whose memory is measured.
  private static let held = 1000
  /// The measured request: a page of posts, which queries the database.
  private static let request = "GET /v1/posts HTTP/1.1\r\nHost: localhost\r\n"

  let folder: String
  /// The path of take5; nil: in the folder of this program.
  let take5: String?

  /// - Parameter only: the names or prefixes of figures; with any, only the attacks that have them are measured.
  func findings(of only: [String]) async throws -> (figures: [Finding], observations: [Finding]) {
    let program = try Programs.take5(take5)
    let bench = AttackBench(folder: folder, program: program)
    ThisProcess.raiseOpenFilesLimit()
    let (bytes, attacks) = (only.filter(WorstBytes.isNamed), only.filter { !WorstBytes.isNamed($0) })
    let worst =
      only.isEmpty || !bytes.isEmpty
      ? try await onThread("bench-bytes") { try WorstBytes(folder: folder, program: program).findings() } : []
    guard only.isEmpty else { return (worst + (try await bench.findings(of: Attack.selected(attacks))), []) }
    let crowd = try await onThread("bench-crowd") { try measure(program) }
    return (crowd.figures + worst + (try await bench.findings(of: Attack.all)), crowd.observations)
  }

  private func measure(_ program: String) throws -> (figures: [Finding], observations: [Finding]) {
    let service = try RunningService(
      program, workers: 0, log: "\(folder)/crowd.log",
      // The service accepts all of them: a refused connection costs nothing.
      more: ["--address-connections", "\(Self.idle + Self.dripping)"])
    for _ in 0..<20 { _ = try Self.latency(service.port) }
    let memory = try Self.memory(of: service)
    Console.progress("no other connections")
    let alone = try (0..<Self.requests).map { _ in try Self.latency(service.port) }
    Console.progress("next to \(Self.idle + Self.dripping) connections")
    let others = try ConcurrentClients(port: service.port, idle: Self.idle, dripping: Self.dripping)
    let loaded = try (0..<Self.requests).map { _ in
      others.drip()
      return try Self.latency(service.port)
    }
    try service.stop()
    let slowest = Figure(
      "crowd.slowest",
      "the slowest request of an address, while another has 5,000 idle and 500 dripping connections, ms",
      .atMost(250), decimals: 1)
    return (
      [
        Finding(
          slowest, [loaded.max() ?? 0],
          details: [.init("with them, ms", loaded, decimals: 1), .init("without, ms", alone, decimals: 1)])
      ],
      [
        Finding(
          Figure("crowd.connection.memory", "resident memory of a connection after a request, KiB", decimals: 1),
          [memory],
          details: [])
      ]
    )
  }

  /// Sends one request from an address of its own and returns the milliseconds until the complete response.
  private static func latency(_ port: UInt16) throws -> Double {
    let start = ContinuousClock.now
    var connection = try ClientConnection(port: port, from: "127.0.0.2")
    try connection.send(request + "\r\n")
    guard try connection.receive().status == 200 else { throw BenchError("the service did not respond with 200") }
    return start.duration(to: .now) / .milliseconds(1)
  }

  private static func memory(of service: RunningService) throws -> Double {
    let before = service.residentBytes
    var connections: [HeldConnection] = []
    for _ in 0..<held {
      let client = try HeldConnection(port: service.port, from: "127.0.0.3")
      try client.connection.send("GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n")
      _ = try client.connection.receive()
      connections.append(client)
    }
    return withExtendedLifetime(connections) { Double(service.residentBytes - before) / Double(held) / 1024 }
  }
}

/// Connections from one address: some silent, some that send a head byte by byte.
private struct ConcurrentClients {
  private let idle: [HeldConnection]
  private let dripping: [HeldConnection]

  init(port: UInt16, idle: Int, dripping: Int) throws {
    self.idle = try (0..<idle).map { _ in try HeldConnection(port: port, from: "127.0.0.1") }
    self.dripping = try (0..<dripping).map { _ in
      let client = try HeldConnection(port: port, from: "127.0.0.1")
      try? client.connection.send("GET /v1/posts HTTP/1.1\r\nHost: localhost\r\nX-Drip: ")
      return client
    }
  }

  /// Sends one more byte on each connection, and ignores those that the service has closed.
  func drip() { for client in dripping { try? client.connection.send("a") } }
}
