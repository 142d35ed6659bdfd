import Glibc
internal import Model

/// How long authors wait for their moments while nothing else is done, and while stored ones are made again.
struct ReprocessingLatency {
  /// Moments of a block, one after the other.
  private static let moments = 10
  /// Runs over all that is stored, so that there is enough to do for a block.
  private static let backlog = 6

  let programs: Programs
  let footage: PhoneFootage
  let folder: String

  /// Milliseconds of each moment.
  struct Waits: Sendable {
    var quiet: [Double] = []
    var beside: [Double] = []
  }

  /// Measures blocks in turns, so that whatever else the machine does falls on both.
  func measure(blocks: Int) throws -> Waits {
    let service = try RunningService(programs.take5, workers: 1, log: "\(folder)/service.log")
    var waits = Waits()
    // The first one starts processes and fills caches.
    _ = try service.wait(of: footage)
    for block in 0..<blocks {
      Console.progress("run \(block + 1) of \(blocks): moments, with nothing else to do")
      waits.quiet += try times(service)
      Console.progress("run \(block + 1) of \(blocks): moments, while stored ones are made again")
      let runs = try (0..<Self.backlog).map { _ in try begin(service) }
      waits.beside += try times(service)
      let reports = try runs.map { try run("cancel", $0.id, service) }
      guard reports.contains(where: { $0.items.done > 0 }),
        reports.contains(where: { $0.items.waiting + $0.items.begun > 0 })
      else {
        throw BenchError("nothing was made again meanwhile, or not to the end", status: EX_DATAERR)
      }
    }
    try service.stop()
    return waits
  }

  private func times(_ service: RunningService) throws -> [Double] {
    try (0..<Self.moments).map { _ in try service.wait(of: footage) }
  }

  private func begin(_ service: RunningService) throws -> Report {
    try answer(["reprocess", "--force", "--detach"], service)
  }

  /// Where a run stands, and then an end of it.
  private func run(_ verb: String, _ id: String, _ service: RunningService) throws -> Report {
    let report = try answer(["reprocess", "status", id], service)
    try command(["reprocess", verb, id], service).run()
    return report
  }

  private func answer(_ words: [String], _ service: RunningService) throws -> Report {
    let text = try command(words, service).output()
    guard let line = text.split(separator: "\n").last(where: { $0.hasPrefix("{") }) else {
      throw BenchError("take5 \(words.joined(separator: " ")) answers: \(text)", status: EX_PROTOCOL)
    }
    return try JSON.decode(Report.self, from: Array(line.utf8))
  }

  private func command(_ words: [String], _ service: RunningService) -> Command {
    Command(
      path: programs.take5, arguments: words + ["--data", service.data, "--json"], log: "\(folder)/reprocess.log")
  }

  /// A run as far as it is read here.
  private struct Report: Decodable {
    struct Items: Decodable {
      let done: Int
      let waiting: Int
      let begun: Int
    }

    let id: String
    let items: Items
  }
}
