internal import Crypto
internal import HTTPTesting
internal import Platform

/// A thousand people who register at the same moment, ten from each address, beside one who reads.
struct RegistrationRush {
  fileprivate static let (people, addresses) = (1000, 100)
  /// The hashes that are measured to know the time of one.
  private static let hashes = 50

  let folder: String
  /// The path of take5.
  let program: String

  /// What a rush beside nothing else takes, and what one waits beside it who reads.
  func findings() throws -> [Finding] {
    let service = try start()
    let token = try AttackBench.token(of: "hal", service.port)
    let alone = try read(token, service.port)
    let hash = Self.hashTime()
    let rush = try Rush(port: service.port)
    let beside = try read(token, service.port)
    let (refused, seconds) = try rush.end()
    try service.stop()

    let people = "of 1,000 people who register at once from 100 addresses"
    return [
      Finding(
        Figure("town.registrations.refused", "the refused ones \(people)", .atMost(0), decimals: 0), [Double(refused)],
        details: []),
      Finding(
        Figure(
          "town.registrations.last",
          "the time until the last \(people) is done against that of their hashes on one core", .atMost(1.2)),
        [seconds / (hash * Double(Self.people))],
        details: [.init("the last one, s", [seconds]), .init("a hash, ms", [hash * 1000])]),
      Finding(
        Figure(
          "town.registrations.reads", "reads meanwhile, one after the other, against those without, p99", .atMost(1.5)),
        [beside.slow / alone.slow],
        details: [
          .init("with them, ms", [beside.slow]), .init("without, ms", [alone.slow]),
          .init("median with them, ms", [beside.median]), .init("median without, ms", [alone.median]),
        ]),
    ]
  }

  /// Lets them register at a service of its own, beside what else the machine does.
  func run() throws {
    let service = try start()
    _ = try Rush(port: service.port).end()
    try service.stop()
  }

  private func start() throws -> RunningService {
    try RunningService(
      program, workers: 0, log: "\(folder)/rush.log", more: ["--accounts", "on"],
      environment: ["TAKE5_API_KEY": AttackBench.key])
  }

  private func read(_ token: String, _ port: UInt16) throws -> HealthyReader {
    try HealthyReader.read([("/v1/posts?limit=5", token)], port, in: folder)[0]
  }

  /// The processor time of a hash, in seconds.
  private static func hashTime() -> Double {
    let begin = ThisThread.processorTime
    for number in 0..<hashes { _ = PasswordHash(of: "lantern orbit velvet \(number)") }
    return (ThisThread.processorTime - begin) / .seconds(hashes)
  }
}

/// The registrations of all that are under way.
private struct Rush {
  private let begin = MonotonicTime.now
  private let clients: [HeldConnection]

  init(port: UInt16) throws {
    clients = try (0..<RegistrationRush.people).map { number in
      let client = try HeldConnection(port: port, from: "127.0.3.\(1 + number % RegistrationRush.addresses)")
      let body = #"{"user_name":"rush-\#(number)","password":"lantern orbit velvet \#(number)"}"#
      try client.connection.send(
        "POST /v1/accounts HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nConnection: close\r\n"
          + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
      return client
    }
  }

  /// Waits for each response; returns how many are refusals, and the seconds until the last one.
  func end() throws -> (refused: Int, seconds: Double) {
    var refused = 0
    for client in clients {
      guard client.connection.isReadable(within: 60_000) else { throw BenchError("a registration has no response") }
      if try client.connection.receive().status != 201 { refused += 1 }
    }
    return (refused, MonotonicTime.now - begin)
  }
}
