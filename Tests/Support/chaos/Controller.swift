import Blobs
import ChaosTesting
import Glibc
import HTTPServer
import HTTPTesting
import MediaProcess
import Platform
import Postgres
import Queue
import Store

/// Runs storms and the matrix, prints their figures, and writes them to a document.
struct Controller {
  private let options: Options
  private let seed: UInt64
  private let folder: String

  init(_ options: Options) throws {
    self.options = options
    // The variable repeats a run whose seed was printed.
    let variable = getenv("TAKE5_CHAOS_SEED").flatMap { UInt64(String(cString: $0)) }
    seed = try options.number("--seed", default: variable ?? .random(in: 0..<1_000_000))
    var template = Array("/tmp/take5-chaos-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw SystemError(call: "mkdtemp") }
    folder = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    // As root, the PostgreSQL server runs as another user, who must be able to reach its files.
    guard chmod(folder, 0o711) == 0 else { throw SystemError(call: "chmod", subject: folder) }
  }

  /// Runs one part or all parts; false after a violation. The folder of such a run is kept for diagnosis.
  func run(_ name: String) async throws -> Bool {
    printLine("seed \(seed); the ledgers, logs and databases are in \(folder)")
    var document = FiguresDocument(seed: seed)
    var isValid = true
    for part in name == "all" ? ["storm", "service", "bucket", "owner", "reprocess", "matrix"] : [name] {
      printLine("\n\(part)")
      let (figures, violations) =
        switch part {
        case "storm": try await storm()
        case "service": try await service("service", in: nil)
        case "bucket": try await bucket()
        case "owner": try await owner()
        case "reprocess": try await reprocess()
        default: try await matrix()
        }
      for (name, value) in figures { printLine("  \(name): \(value)") }
      for violation in violations { printLine("  VIOLATION: \(violation)") }
      isValid = isValid && violations.isEmpty
      document.add(part, figures)
    }
    if let path = options["--write"], isValid { try document.write(to: path) }
    if isValid { try Folder.remove(folder) }
    return isValid
  }

  private typealias Result = (figures: [(name: String, value: String)], violations: [String])

  private func storm() async throws -> Result {
    var configuration = Storm.Configuration(seed: seed)
    configuration.jobs = try options.number("--jobs", default: configuration.jobs)
    configuration.faults = try options.number("--faults", default: configuration.faults)
    let report = try await withRun("storm") { run in
      try await Storm(configuration, on: run).run { printLine("  \($0)") }
    }
    return (report.figures, report.violations + (report.violations.isEmpty ? [] : report.slowest))
  }

  /// The storm over the service with its blobs in a bucket, which is shorter than that with a folder.
  private func bucket() async throws -> Result {
    let bucket = MemoryBucket()
    return try await withServer(router: bucket.router) { server in
      try await service("bucket", in: (bucket, server.port), faults: 100)
    }
  }

  private func service(
    _ name: String, in bucket: (server: MemoryBucket, port: UInt16)?, faults: Int = 300
  ) async throws -> Result {
    var configuration = ServiceStorm.Configuration(seed: seed)
    configuration.posts = try options.number("--posts", default: configuration.posts)
    configuration.faults = try options.number("--faults", default: faults)
    configuration.failpoints = Self.failpoints
    configuration.bucket = bucket
    let report = try await withRun(name) { run in
      try await ServiceStorm(configuration, on: run).run { printLine("  \($0)") }
    }
    return (report.figures, report.violations)
  }

  private func owner() async throws -> Result {
    var configuration = OwnerStorm.Configuration(seed: seed)
    configuration.posts = try options.number("--posts", default: configuration.posts)
    configuration.faults = try options.number("--faults", default: configuration.faults)
    try Folder.make("\(folder)/owner", mode: 0o711)
    let report = try await OwnerStorm(configuration, folder: "\(folder)/owner").run()
    return (report.figures, report.violations)
  }

  private func reprocess() async throws -> Result {
    var configuration = ReprocessStorm.Configuration(seed: seed)
    configuration.posts = try options.number("--stored", default: configuration.posts)
    configuration.images = max(2, configuration.posts / 20)
    configuration.kills = try options.number("--kills", default: configuration.kills)
    configuration.failpoints = Self.failpoints
    let report = try await withRun("reprocess") { run in
      try await ReprocessStorm(configuration, on: run).run { printLine("  \($0)") }
    }
    return (report.figures, report.violations)
  }

  /// The failpoints of the shipped programs.
  private static var failpoints: [Failpoint] {
    Failpoint.connections + Failpoint.blobs + Failpoint.mediaProcesses + Store.failpoints + JobQueue.failpoints
  }

  private func matrix() async throws -> Result {
    let text = options["--only"] ?? ""
    let all = Matrix.cells.filter { text.isEmpty || $0.description.contains(text) }
    let count = try options.number("--cells", default: all.count)
    let cells = count < all.count ? Matrix.slice(count, seed: seed) : all
    let done = Locked(0)
    try Folder.make("\(folder)/matrix", mode: 0o711)
    let lanes = MatrixLanes(
      lanes: try options.number("--lanes", default: 6), folder: "\(folder)/matrix"
    ) { outcome in
      let number = done.withLock { done in
        done += 1
        return done
      }
      for violation in outcome.violations { printLine("  \(outcome.cell): \(violation)") }
      if number % 100 == 0 { printLine("  \(number) of \(cells.count) cells") }
    }
    let startTime = ContinuousClock.now
    let report = MatrixReport(outcomes: try await lanes.run(cells), duration: startTime.duration(to: .now))
    return (report.figures, report.failures.map { "\($0.cell): \($0.violations[0])" })
  }

  private func withRun<Report>(_ name: String, _ body: (ChaosRun) async throws -> Report) async throws -> Report {
    let folder = "\(folder)/\(name)"
    try Folder.make(folder, mode: 0o711)
    let server = try await ChaosServer(folder: "\(folder)/server")
    let report = try await body(try await ChaosRun(on: server, folder: folder, timing: ChaosTiming()))
    try await server.stop()
    return report
  }
}

/// The figures of a run, which a document has between two markers.
private struct FiguresDocument {
  private static let (startMarker, endMarker) = ("<!-- figures -->", "<!-- end of figures -->")

  private let seed: UInt64
  private var sections: [String] = []

  init(seed: UInt64) { self.seed = seed }

  /// Adds the figures of a part.
  mutating func add(_ part: String, _ figures: [(name: String, value: String)]) {
    let rows = figures.map { "| \($0.name) | \($0.value) |" }
    sections.append((["| \(part), seed \(seed) | |", "|---|---|"] + rows).joined(separator: "\n"))
  }

  /// Replaces the text between the markers.
  func write(to path: String) throws {
    let text = String(decoding: try Descriptor(reading: path).contents(), as: UTF8.self)
    guard let start = text.firstRange(of: Self.startMarker), let end = text.firstRange(of: Self.endMarker) else {
      throw OptionError(description: "\(path) has no markers for figures")
    }
    let changed =
      text[..<start.upperBound] + "\n" + sections.joined(separator: "\n\n") + "\n" + text[end.lowerBound...]
    try Descriptor(writing: path, replacing: true).write(Array(changed.utf8))
  }
}

/// Prints a line and flushes it.
private func printLine(_ line: String) {
  print(line)
  fflush(nil)
}
