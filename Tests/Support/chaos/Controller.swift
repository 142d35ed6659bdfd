import Blobs
import ChaosTesting
import Glibc
import MediaProcess
import Platform
import Postgres
import Queue
import Store

/// Runs what there is to be run, says what came of it, and writes it down where that is wanted.
struct Controller {
  private let options: Options
  private let seed: UInt64
  private let folder: String

  init(_ options: Options) throws {
    self.options = options
    // The variable replays a run whose seed was printed.
    let told = getenv("TAKE5_CHAOS_SEED").flatMap { UInt64(String(cString: $0)) }
    seed = try options.number("--seed", told ?? .random(in: 0..<1_000_000))
    if let folder = options.text(ifAny: "--folder") {
      self.folder = folder
    } else {
      var template = Array("/tmp/take5-chaos-XXXXXX".utf8CString)
      guard mkdtemp(&template) != nil else { throw SystemError(call: "mkdtemp") }
      folder = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
    // The server runs as another user than root: it must be able to reach what is its own.
    guard chmod(folder, 0o711) == 0 else { throw SystemError(call: "chmod", subject: folder) }
  }

  /// Runs one thing, or all; whether all was well. What was not is left in the folder, to be looked into.
  func run(_ what: String) async throws -> Bool {
    say("seed \(seed); ledgers, logs and databases lie in \(folder)")
    var document = FiguresDocument(seed: seed)
    var isWell = true
    for part in what == "all" ? ["storm", "service", "owner", "reprocess", "matrix"] : [what] {
      say("\n\(part)")
      let (figures, violations) =
        switch part {
        case "storm": try await storm()
        case "service": try await service()
        case "owner": try await owner()
        case "reprocess": try await reprocess()
        default: try await matrix()
        }
      for (name, value) in figures { say("  \(name): \(value)") }
      for violation in violations { say("  VIOLATION: \(violation)") }
      isWell = isWell && violations.isEmpty
      document.add(part, figures)
    }
    if let path = options.text(ifAny: "--write"), isWell { try document.write(to: path) }
    if isWell { try Folder.remove(folder) }
    return isWell
  }

  private typealias Result = (figures: [(name: String, value: String)], violations: [String])

  private func storm() async throws -> Result {
    var configuration = StormConfiguration(seed: seed)
    configuration.jobs = try options.number("--jobs", configuration.jobs)
    configuration.faults = try options.number("--faults", configuration.faults)
    let report = try await withRun("storm") { run in
      try await Storm(configuration, on: run).run { say("  \($0)") }
    }
    return (report.figures, report.violations + (report.violations.isEmpty ? [] : report.slowest))
  }

  private func service() async throws -> Result {
    var configuration = ServiceStorm.Configuration(seed: seed)
    configuration.posts = try options.number("--posts", configuration.posts)
    configuration.faults = try options.number("--service-faults", configuration.faults)
    configuration.outage = .seconds(try options.number("--outage", Int(configuration.outage / .seconds(1))))
    configuration.failpoints = Self.failpoints
    let report = try await withRun("service") { run in
      try await ServiceStorm(configuration, on: run).run { say("  \($0)") }
    }
    return (report.figures, report.violations)
  }

  private func owner() async throws -> Result {
    var configuration = OwnerStorm.Configuration(seed: seed)
    configuration.posts = try options.number("--owner-posts", configuration.posts)
    configuration.faults = try options.number("--owner-faults", configuration.faults)
    try Folder.make("\(folder)/owner", mode: 0o711)
    let report = try await OwnerStorm(configuration, folder: "\(folder)/owner").run()
    return (report.figures, report.violations)
  }

  private func reprocess() async throws -> Result {
    var configuration = ReprocessStorm.Configuration(seed: seed)
    configuration.posts = try options.number("--stored", configuration.posts)
    configuration.images = max(2, configuration.posts / 20)
    configuration.kills = try options.number("--kills", configuration.kills)
    configuration.failpoints = Self.failpoints
    let report = try await withRun("reprocess") { run in
      try await ReprocessStorm(configuration, on: run).run { say("  \($0)") }
    }
    return (report.figures, report.violations)
  }

  /// What can be interrupted in the programs that are shipped.
  private static var failpoints: [Failpoint] {
    Failpoint.connections + Failpoint.blobs + Failpoint.mediaProcesses + Store.failpoints + JobQueue.failpoints
  }

  private func matrix() async throws -> Result {
    let only = options.text(ifAny: "--only") ?? ""
    let all = Matrix.cells.filter { only.isEmpty || $0.description.contains(only) }
    let count = try options.number("--cells", all.count)
    let cells = count < all.count ? Matrix.slice(count, seed: seed) : all
    let done = Locked(0)
    try Folder.make("\(folder)/matrix", mode: 0o711)
    let lanes = MatrixLanes(lanes: try options.number("--lanes", 6), folder: "\(folder)/matrix") { outcome in
      let place = done.withLock { done in
        done += 1
        return done
      }
      for violation in outcome.violations { say("  \(outcome.cell): \(violation)") }
      if place % 100 == 0 { say("  \(place) of \(cells.count) cells") }
    }
    let began = ContinuousClock.now
    let report = MatrixReport(outcomes: try await lanes.run(cells), duration: began.duration(to: .now))
    return (report.figures, report.failures.map { "\($0.cell): \($0.violations[0])" })
  }

  private func withRun<Report>(_ name: String, _ body: (ChaosRun) async throws -> Report) async throws -> Report {
    let folder = "\(folder)/\(name)"
    try Folder.make(folder, mode: 0o711)
    let server = try await ChaosServer(folder: "\(folder)/server")
    let report = try await body(try await ChaosRun(on: server, folder: folder, times: ChaosTimes()))
    try await server.stop()
    return report
  }
}

/// Says a line at once, whoever listens through a pipe.
private func say(_ line: String) {
  print(line)
  fflush(nil)
}
