internal import HTTPTesting
internal import Platform

/// Measures what the bytes of a request cost the service that are made to cost most, against a flat request of the same length to the
/// same route: the processor time of its process, without that of the database.
///
/// Requests come one after the other, each on a connection of its own. What is counted before it is read, such as a registration, is
/// left out: it has few requests.
struct WorstBytes: Sendable {
  private static let repetitions = 21

  let folder: String
  /// The path of take5.
  let program: String

  /// Whether a name or prefix of figures is one of these.
  static func isNamed(_ name: String) -> Bool { name.hasPrefix("crowd.bytes_of") }

  /// A figure for each part of a request.
  func findings() throws -> [Finding] {
    let service = try RunningService(
      program, workers: 0, log: "\(folder)/bytes.log", more: ["--accounts", "on"],
      environment: ["TAKE5_API_KEY": AttackBench.key])
    let token = try AttackBench.token(of: "mallory", service.port)
    let findings = try WorstPart.all.map { try finding(of: $0, token, service) }
    try service.stop()
    return findings
  }

  private func finding(of part: WorstPart, _ token: String, _ service: RunningService) throws -> Finding {
    Console.progress(part.meaning)
    var (worst, name, flat) = (0.0, "", 0.0)
    for route in part.routes {
      func cost(_ content: String) throws -> Double {
        let request = Array(part.request(route, content, token: token).utf8)
        let times = try (0..<Self.repetitions).map { _ in try time(of: request, service) }
        // The clock of a process steps: the least time may be none.
        return times.sorted()[times.count / 2] / Double(request.count)
      }
      flat = try cost(part.flat)
      for form in part.forms {
        let ratio = try cost(form.content) / flat
        if ratio > worst { (worst, name) = (ratio, "\(form.name), \(route)") }
      }
    }
    return Finding(
      Figure(
        "crowd.bytes_of.\(part.name)", "\(part.meaning), CPU against a flat one; the worst is \(name)", .atMost(3),
        decimals: 2),
      [worst],
      details: [
        .init("forms", [Double(part.routes.count * part.forms.count)], decimals: 0),
        .init("a flat one of 64 KiB, ms", [flat * 65536], decimals: 1),
      ])
  }

  /// The processor time of a request, in milliseconds.
  private func time(of request: [UInt8], _ service: RunningService) throws -> Double {
    let start = service.processorTime
    var connection = try ClientConnection(port: service.port)
    // A refusal may come before all is sent.
    try? connection.send(request)
    _ = try connection.receive()
    return service.processorTime - start
  }
}
