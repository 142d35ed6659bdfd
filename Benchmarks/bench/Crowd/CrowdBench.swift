internal import HTTPTesting
internal import Platform

/// Measures what a crowd of connections from one address costs the requests of another, and what a connection costs.
struct CrowdBench: Sendable {
  private static let idle = 5000
  private static let dripping = 500
  private static let requests = 1000
  private static let kept = 1000
  /// What the other address asks for: a page of posts, which asks the database.
  private static let request = "GET /v1/posts HTTP/1.1\r\nHost: localhost\r\n"

  let folder: String
  /// The program to measure; nil: the one beside this program.
  let take5: String?

  func findings() async throws -> (figures: [Finding], observations: [Finding]) {
    let program = try Programs.take5(take5)
    return try await onThread("bench-crowd") { try measure(program) }
  }

  private func measure(_ program: String) throws -> (figures: [Finding], observations: [Finding]) {
    ThisProcess.raiseOpenFilesLimit()
    let service = try RunningService(
      program, workers: 0, log: "\(folder)/crowd.log",
      // As many as there are: those that are turned away cost nothing.
      more: ["--address-connections", "\(Self.idle + Self.dripping)"])
    for _ in 0..<20 { _ = try Self.latency(service.port) }
    let memory = try Self.memory(of: service)
    Console.progress("alone")
    let alone = try (0..<Self.requests).map { _ in try Self.latency(service.port) }
    Console.progress("among \(Self.idle + Self.dripping) connections")
    let crowd = try Crowd(port: service.port, idle: Self.idle, dripping: Self.dripping)
    let among = try (0..<Self.requests).map { _ in
      crowd.drip()
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
          slowest, [among.max() ?? 0],
          details: [.init("among them, ms", among, decimals: 1), .init("alone, ms", alone, decimals: 1)])
      ],
      [
        Finding(
          Figure("crowd.connection.memory", "what a connection that was served keeps resident, KiB", decimals: 1),
          [memory],
          details: [])
      ]
    )
  }

  /// Asks once, from an address of its own; milliseconds until the whole answer is there.
  private static func latency(_ port: UInt16) throws -> Double {
    let start = ContinuousClock.now
    var connection = try ClientConnection(port: port, from: "127.0.0.2")
    try connection.send(request + "\r\n")
    guard try connection.receive().status == 200 else { throw BenchError("the service does not answer") }
    return start.duration(to: .now) / .milliseconds(1)
  }

  private static func memory(of service: RunningService) throws -> Double {
    let before = service.residentBytes
    var connections: [Client] = []
    for _ in 0..<kept {
      let client = try Client(port: service.port, from: "127.0.0.3")
      try client.connection.send("GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n")
      _ = try client.connection.receive()
      connections.append(client)
    }
    return withExtendedLifetime(connections) { Double(service.residentBytes - before) / Double(kept) / 1024 }
  }
}

/// Connections from one address: those that say nothing, and those that send a head byte by byte.
private struct Crowd {
  private let idle: [Client]
  private let dripping: [Client]

  init(port: UInt16, idle: Int, dripping: Int) throws {
    self.idle = try (0..<idle).map { _ in try Client(port: port, from: "127.0.0.1") }
    self.dripping = try (0..<dripping).map { _ in
      let client = try Client(port: port, from: "127.0.0.1")
      try? client.connection.send("GET /v1/posts HTTP/1.1\r\nHost: localhost\r\nX-Drip: ")
      return client
    }
  }

  /// Sends one more byte on each; those that were turned away are gone.
  func drip() { for client in dripping { try? client.connection.send("a") } }
}

/// A connection that an array can hold.
private final class Client {
  var connection: ClientConnection

  init(port: UInt16, from address: String) throws { connection = try ClientConnection(port: port, from: address) }
}
