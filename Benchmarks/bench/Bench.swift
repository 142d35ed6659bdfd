internal import AV
internal import Definitions
import Glibc
internal import Platform

/// Measures what the service is for: the composition, against other ways to make the same.
@main
struct Bench {
  static func main() async {
    do {
      let words = Array(CommandLine.arguments.dropFirst())
      // Everything that is decoded here was made here, so nothing hostile can ask for more.
      Library.configure(largestAllocation: 1 << 28)
      if words.first == LimitProcess.word {
        try LimitProcess.run(Array(words.dropFirst()))
      } else if words.first == QueueProcess.word {
        try await QueueProcess(Array(words.dropFirst())).run()
      } else {
        let options = try Options(words)
        switch options.subject {
        case .reading where !options.asksForHelp:
          try await report(options) { try await ReadingBench(folder: options.folder).findings() }
        case .queue where !options.asksForHelp:
          try await report(options, runs: options.runs) {
            try await QueueBench(folder: options.folder, runs: options.runs, take5: options.take5).findings()
          }
        case .crowd where !options.asksForHelp:
          try await report(options) {
            try await CrowdBench(folder: options.folder, take5: options.take5).findings()
          }
        case .composition, .photos, .reading, .queue, .crowd: try await measure(options)
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
    // A report that cannot be written would be known only after a quarter of an hour.
    if let document = options.document { _ = try section.inside(document) }
    let machine = try Machine.current()
    if let load = machine.load, load > 0.3 {
      Console.note("bench: the machine is busy, with a load of \(load.text(decimals: 2)); figures will scatter")
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
        Console.note("bench: \(document) stays as it is, because only a part was measured")
      }
    }
    if let misses = report.misses { Console.note(misses) }
    guard isComplete else { throw BenchError("not everything could be measured", status: EX_SOFTWARE) }
  }

  /// Measures what is not chosen from, in one go.
  private static func report(
    _ options: Options, runs: Int = 1,
    _ measure: @Sendable () async throws -> (figures: [Finding], observations: [Finding])
  ) async throws {
    let section = MarkedSection(target: options.subject.target)
    if let document = options.document { _ = try section.inside(document) }
    try Folder.make(options.folder)
    let (figures, observations) = try await measure()
    let report = Report(
      machine: try Machine.current(), pairs: runs, unit: "run", figures: figures, observations: observations)
    Console.progress("")
    print(report.text)
    if let document = options.document { try section.replace(report.markdown, in: document) }
    if let misses = report.misses { Console.note(misses) }
  }

  /// One that fails does not take the others with it.
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
