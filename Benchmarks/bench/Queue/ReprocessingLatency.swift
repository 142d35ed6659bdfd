import Glibc
internal import Model

/// Measures the latency of submitted moments, without other work and during reprocessing.
struct ReprocessingLatency {
  /// The moments of a block, submitted one after the other.
  private static let moments = 10
  /// The reprocessing runs over all stored moments: enough work for a block.
  private static let backlog = 6

  let programs: Programs
  let footage: PhoneFootage
  let folder: String

  /// The latencies of all moments in milliseconds.
  struct Latencies: Sendable {
    var quiet: [Double] = []
    var reprocessing: [Double] = []
  }

  /// Measures both kinds of blocks alternately, so that other load of the machine affects both.
  func measure(blocks: Int) throws -> Latencies {
    let service = try RunningService(programs.take5, workers: 1, log: "\(folder)/service.log")
    var latencies = Latencies()
    // Starts processes and fills caches.
    _ = try service.latency(of: footage)
    for block in 0..<blocks {
      Console.progress("run \(block + 1) of \(blocks): moments without other work")
      latencies.quiet += try times(service)
      Console.progress("run \(block + 1) of \(blocks): moments during reprocessing")
      let runs = try (0..<Self.backlog).map { _ in try startRun(service) }
      latencies.reprocessing += try times(service)
      let reports = try runs.map { try cancelRun($0.id, service) }
      guard reports.contains(where: { $0.items.done > 0 }),
        reports.contains(where: { $0.items.waiting + $0.items.started > 0 })
      else {
        throw BenchError("no item was reprocessed during a block, or none was left at its end", status: EX_DATAERR)
      }
    }
    try service.stop()
    return latencies
  }

  private func times(_ service: RunningService) throws -> [Double] {
    try (0..<Self.moments).map { _ in try service.latency(of: footage) }
  }

  private func startRun(_ service: RunningService) throws -> Report {
    try report(["reprocess", "--force", "--detach"], service)
  }

  /// Cancels a run and returns its state before.
  private func cancelRun(_ id: String, _ service: RunningService) throws -> Report {
    let report = try report(["reprocess", "status", id], service)
    try command(["reprocess", "cancel", id], service).run()
    return report
  }

  private func report(_ arguments: [String], _ service: RunningService) throws -> Report {
    let text = try command(arguments, service).output()
    guard let line = text.split(separator: "\n").last(where: { $0.hasPrefix("{") }) else {
      throw BenchError("take5 \(arguments.joined(separator: " ")) printed no JSON: \(text)", status: EX_PROTOCOL)
    }
    return try JSON.decode(Report.self, from: Array(line.utf8))
  }

  private func command(_ arguments: [String], _ service: RunningService) -> Command {
    Command(
      path: programs.take5, arguments: arguments + ["--data", service.data, "--json"], log: "\(folder)/reprocess.log")
  }

  /// The members of a run's state that the benchmark reads.
  private struct Report: Decodable {
    struct Items: Decodable {
      let done: Int
      let waiting: Int
      let started: Int

      private enum CodingKeys: String, CodingKey {
        case done, waiting
        case started = "begun"
      }
    }

    let id: String
    let items: Items
  }
}
