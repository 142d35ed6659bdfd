internal import HTTPTesting
internal import Platform

/// Measures what the bytes of a request cost the service that are made to cost most, against a flat request of the same length to the
/// same route: the processor time of its process, without that of the database.
///
/// Requests come one after the other, each on a connection of its own, to each route that the service describes. Streams are left out, and
/// what is counted before it is read, such as a registration: it has few requests.
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
    _ = try AttackBench.token(of: "mallory", service.port)
    let routes = try DescribedRoutes(port: service.port)
    let findings = try WorstPart.all(of: routes).map { try finding(of: $0, service) }
    try service.stop()
    return findings
  }

  private func finding(of part: WorstPart, _ service: RunningService) throws -> Finding {
    Console.progress("\(part.meaning), of \(part.routes.count) routes")
    var (worst, name, flats): (Double, String, [Double]) = (0, "", [])
    for route in part.routes {
      func cost(_ content: String) throws -> Double {
        let request = Array(part.request(route, content, token: AttackBench.key).utf8)
        let times = try (0..<Self.repetitions).map { _ in try time(of: request, service) }
        // The clock of a process steps: the least time may be none.
        return times.sorted()[times.count / 2] / Double(request.count)
      }
      let flat = try cost(part.flat)
      flats.append(flat)
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
        .init("a flat one of 64 KiB, ms", flats.map { $0 * 65536 }, decimals: 1),
      ])
  }

  /// The processor time of a request, in milliseconds.
  private func time(of request: [UInt8], _ service: RunningService) throws -> Double {
    let start = service.processorTime
    var connection = try ClientConnection(port: service.port)
    // A refusal may come before all is sent.
    try? connection.send(request)
    let status = try connection.receive().status
    // Nothing has been read of what is counted before.
    guard status != 429, status != 503 else { throw BenchError("the service responded with \(status)") }
    return service.processorTime - start
  }
}
