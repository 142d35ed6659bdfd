internal import AV
internal import Definitions
import Glibc
internal import Platform

/// Measures the composition, photos, lists, concurrent clients or the queue, and prints a report.
@main
struct Bench {
  static func main() async {
    do {
      let arguments = Array(CommandLine.arguments.dropFirst())
      // The largest allocation for one frame; all files that are decoded here were made here.
      Library.configure(maxAllocation: 1 << 28)
      if arguments.first == LimitProcess.command {
        try LimitProcess.run(Array(arguments.dropFirst()))
      } else if arguments.first == QueueProcess.command {
        try await QueueProcess(Array(arguments.dropFirst())).run()
      } else {
        let options = try Options(arguments)
        switch options.subject {
        case .reading where !options.asksForHelp:
          try await report(options) { try await ReadingBench(folder: options.folder).findings() }
        case .queue where !options.asksForHelp:
          try await report(options, runs: options.runs) {
            try await QueueBench(folder: options.folder, runs: options.runs, take5: options.take5).findings()
          }
        case .crowd where !options.asksForHelp:
          try await report(options) {
            try await CrowdBench(folder: options.folder, take5: options.take5).findings(of: options.only)
          }
        case .fleet where !options.asksForHelp:
          try await report(options) { try await FleetBench(folder: options.folder).findings() }
        case .town where !options.asksForHelp:
          try await report(options) {
            try await TownBench(folder: options.folder, take5: options.take5).findings(of: options.only)
          }
        case .footage where !options.asksForHelp:
          try Folder.make(options.folder)
          _ = try await PhoneFootage(folder: options.folder, progress: Console.progress)
          Console.progress("")
        case .composition, .photos, .reading, .queue, .crowd, .fleet, .town, .footage: try await measure(options)
        }
      }
    } catch let error as BenchError {
      Console.note("bench: \(error)")
      exit(error.status)
    } catch {
      Console.note("bench: \(error)")
      exit(EX_IOERR)
    }
  }

  private static func measure(_ options: Options) async throws {
    let catalogue = options.subject == .photos ? Catalogue.photos : try Catalogue(Definitions.take5Post())
    if options.asksForHelp {
      print(Options.help(names: catalogue.names))
      return
    }
    let section = MarkedSection(target: options.subject.target)
    let (figures, observations) = try catalogue.selected(options.only)
    // Fails before a quarter of an hour of measurements if the report cannot be written.
    if let document = options.document { _ = try section.content(of: document) }
    let machine = try Machine.current()
    if let load = machine.load, load > 0.3 {
      Console.note("bench: the machine is busy, with a load of \(load.text(decimals: 2)); the figures will vary")
    }

    try Folder.make(options.folder)
    let footage = try await PhoneFootage(folder: options.folder, progress: Console.progress)
    let workbench = Workbench(
      programs: try Programs(take5: options.take5), footage: footage, folder: options.folder, pairs: options.pairs)
    let report = await Report(
      machine: machine, pairs: options.pairs, figures: findings(of: figures, on: workbench),
      observations: findings(of: observations, on: workbench))
    Console.progress("")

    print(report.text)
    fflush(nil)
    let isComplete = report.figures.count == figures.count && report.observations.count == observations.count
    if let document = options.document {
      if isComplete && options.only.isEmpty {
        try section.replace(report.markdown, in: document)
      } else {
        Console.note("bench: \(document) is not changed, because only some figures were measured")
      }
    }
    if let misses = report.misses { Console.note(misses) }
    guard isComplete else { throw BenchError("some figures could not be measured", status: EX_SOFTWARE) }
  }

  /// Runs a benchmark that measures several figures at once, and prints its report.
  private static func report(
    _ options: Options, runs: Int = 1,
    _ measure: @Sendable () async throws -> (figures: [Finding], observations: [Finding])
  ) async throws {
    let section = MarkedSection(target: options.subject.target)
    if let document = options.document { _ = try section.content(of: document) }
    try Folder.make(options.folder)
    let (figures, observations) = try await measure()
    let report = Report(
      machine: try Machine.current(), pairs: runs, unit: "run", figures: figures, observations: observations)
    Console.progress("")
    print(report.text)
    if let document = options.document {
      if options.only.isEmpty {
        try section.replace(report.markdown, in: document)
      } else {
        Console.note("bench: \(document) is not changed, because only some figures were measured")
      }
    }
    if let misses = report.misses { Console.note(misses) }
  }

  /// Measures one figure after the other. A measurement that fails is reported and left out.
  private static func findings(of measurements: [any Measurement], on workbench: Workbench) async -> [Finding] {
    var findings: [Finding] = []
    for measurement in measurements {
      do {
        findings.append(try await measurement.measure(on: workbench))
      } catch {
        Console.progress("")
        Console.note("bench: \(measurement.figure.name) cannot be measured: \(error)")
      }
    }
    return findings
  }
}

/// The reason why some or all figures cannot be measured.
struct BenchError: Error, CustomStringConvertible {
  let description: String
  /// The exit status, one of sysexits.h; a usage error by default.
  let status: Int32

  init(_ description: String, status: Int32 = EX_USAGE) {
    self.description = description
    self.status = status
  }
}

/// Messages on standard error, apart from the report.
enum Console {
  /// Prints a message that is not part of the report.
  static func note(_ text: String) { write("\(text)\n") }

  /// Replaces the progress line of a terminal; an empty text removes it.
  static func progress(_ text: String) {
    if isatty(STDERR_FILENO) == 1 { write("\r\u{1B}[K\(text)") }
  }

  private static func write(_ text: String) { _ = Glibc.write(STDERR_FILENO, text, text.utf8.count) }
}
