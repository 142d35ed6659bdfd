import Glibc
internal import Platform

/// A client that asks for little: wrk, which sends one request after the other, each on a connection of its own.
struct HealthyReader {
  static let seconds = 10
  /// The time of a request that gets no answer, in milliseconds.
  static let failed = 10_000.0

  /// In milliseconds.
  let median: Double
  /// The 99th percentile in milliseconds; that of a request without an answer if more than one of a hundred has failed.
  let slow: Double
  let requests: Double
  /// The requests with another status than 200, and those without a response.
  let errors: Double

  /// Reads paths at the same time, each with a user token or without a credential.
  static func read(_ paths: [(path: String, token: String?)], _ port: UInt16, in folder: String) throws -> [Self] {
    let script = "\(folder)/healthy.lua"
    try Descriptor(writing: script, replacing: true).write(Array(report.utf8))
    let commands = paths.enumerated().map { number, request in
      let credential = request.token.map { ["--header", "Authorization: Bearer \($0)"] } ?? []
      return Command(
        path: "/usr/bin/wrk",
        arguments: ["--threads", "1", "--connections", "1", "--duration", "\(seconds)s", "--timeout", "10s"]
          + ["--header", "Connection: close"] + credential
          + ["--script", script, "http://127.0.0.1:\(port)\(request.path)"],
        log: "\(folder)/healthy-\(number).log")
    }
    try run(commands[...])
    return try commands.map { command in
      let output = String(decoding: try Descriptor(reading: command.log).contents(), as: UTF8.self)
      let words = output.split(separator: "\n").last?.split(separator: " ") ?? []
      let numbers = words.compactMap { Double($0) }
      guard numbers.count == 4 else { throw BenchError("wrk has written no figures: \(command.log)") }
      let hasFailed = numbers[2] == 0 || numbers[3] * 100 > numbers[2]
      return Self(
        median: numbers[0] / 1000, slow: hasFailed ? failed : numbers[1] / 1000, requests: numbers[2],
        errors: numbers[3])
    }
  }

  /// Runs commands at the same time.
  private static func run(_ commands: ArraySlice<Command>) throws {
    guard let first = commands.first else { return }
    let child = try first.start()
    try run(commands.dropFirst())
    try first.check(child.wait())
  }

  /// Microseconds and numbers, in the order of the properties.
  private static let report = """
    done = function(summary, latency)
      local errors = summary.errors
      print(string.format("%d %d %d %d", latency:percentile(50), latency:percentile(99), summary.requests,
        errors.connect + errors.read + errors.write + errors.timeout + errors.status))
    end
    """
}
