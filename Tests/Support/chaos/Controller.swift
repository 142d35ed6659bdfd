import Blobs
import ChaosTesting
import Glibc
import HTTPServer
import HTTPTesting
import MediaProcess
import Platform
import Postgres
import Queue
import Rooms
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
      let partFolder = "\(folder)/\(part)"
      try Folder.make(partFolder, mode: 0o711)
      let report = try await run(part, in: partFolder)
      for (name, value) in report.figures { printLine("  \(name): \(value)") }
      for violation in report.violations { printLine("  VIOLATION: \(violation)") }
      isValid = isValid && report.violations.isEmpty
      document.add(part, report.figures)
    }
    if let path = options["--write"], isValid { try document.write(to: path) }
    if isValid { try Folder.remove(folder) }
    return isValid
  }

  private func run(_ part: String, in folder: String) async throws -> StormReport {
    switch part {
    case "owner":
      var storm = OwnerStorm(seed: seed)
      storm.posts = try options.number("--posts", default: storm.posts)
      storm.faults = try options.number("--faults", default: storm.faults)
      return try await storm.run(in: folder)
    case "matrix": return try await matrix(in: folder)
    default: break
    }
    let server = try await ChaosServer(folder: "\(folder)/server")
    let run = try await ChaosRun(on: server, folder: folder, timing: ChaosTiming())
    let report: StormReport
    switch part {
    case "storm":
      var storm = Storm(seed: seed)
      storm.jobs = try options.number("--jobs", default: storm.jobs)
      storm.faults = try options.number("--faults", default: storm.faults)
      report = try await storm.run(on: run) { printLine("  \($0)") }
    case "reprocess":
      var storm = ReprocessStorm(seed: seed)
      storm.posts = try options.number("--stored", default: storm.posts)
      storm.images = max(2, storm.posts / 20)
      storm.kills = try options.number("--kills", default: storm.kills)
      storm.failpoints = Self.failpoints
      report = try await storm.run(on: run) { printLine("  \($0)") }
    // The storm over the service with its blobs in a bucket, which is shorter than that with a folder.
    case "bucket":
      let bucket = MemoryBucket()
      report = try await withServer(router: bucket.router) { server in
        try await service(on: run, bucket: (bucket, server.port), faults: 100)
      }
    default: report = try await service(on: run, bucket: nil, faults: 300)
    }
    try await server.stop()
    return report
  }

  private func service(
    on run: ChaosRun, bucket: (server: MemoryBucket, port: UInt16)?, faults: Int
  ) async throws -> StormReport {
    var storm = ServiceStorm(seed: seed)
    storm.posts = try options.number("--posts", default: storm.posts)
    storm.faults = try options.number("--faults", default: faults)
    storm.failpoints = Self.failpoints
    storm.bucket = bucket
    return try await storm.run(on: run) { printLine("  \($0)") }
  }

  /// The failpoints of the shipped programs.
  private static var failpoints: [Failpoint] {
    Failpoint.connections + Failpoint.blobs + Failpoint.mediaProcesses + Store.topics.flatMap(\.failpoints)
      + [any Room.Type].all.failpoints + JobQueue.failpoints
  }

  private func matrix(in folder: String) async throws -> StormReport {
    let text = options["--only"] ?? ""
    let all = Matrix.cells.filter { text.isEmpty || $0.description.contains(text) }
    let count = try options.number("--cells", default: all.count)
    let cells = count < all.count ? Matrix.slice(count, seed: seed) : all
    let done = Locked(0)
    let lanes = try options.number("--lanes", default: 6)
    return try await Matrix.run(cells, lanes: lanes, folder: folder) { cell, violations in
      let number = done.withLock { done in
        done += 1
        return done
      }
      for violation in violations { printLine("  \(cell): \(violation)") }
      if number % 100 == 0 { printLine("  \(number) of \(cells.count) cells") }
    }
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
