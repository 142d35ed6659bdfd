import Glibc
import MediaMutation
import MediaProcess
import Model
import Platform

/// Runs a range of seeds in parts, prints the progress, and records each part.
struct Command {
  private let isPipeline: Bool
  private let part: String
  private let seeds: Range<UInt64>
  private let record: String?
  private let keep: String?
  private let mutator: Mutator
  private let pipeline: Pipeline?
  private let folder: String?
  private var done: [RangeRecord]

  init(_ options: Options, isPipeline: Bool) throws {
    self.isPipeline = isPipeline
    seeds = try options.seeds()
    record = options["--record"]
    keep = options["--keep"]
    let canvas = options["--canvas"] ?? "180"
    let name = canvas == "shipped" ? "shipped definitions" : "a canvas \(canvas) pixels wide"
    part = isPipeline ? name : "parsers"
    done = try record.map(RangeRecord.read) ?? []
    let isShipped = isPipeline && canvas == "shipped"
    var corpus = isShipped ? try Corpus.samples(in: "samples") : try Corpus.synthetic()
    let media = options["--media"] ?? getenv("TAKE5_FIELD_MEDIA").map { String(cString: $0) }
    if let media {
      let limit = isShipped ? 4 << 20 : isPipeline ? 300_000 : 60_000
      try corpus.addField(from: media, clipBytes: limit, photoBytes: limit)
    }
    mutator = Mutator(corpus, fieldPercent: isShipped ? 50 : isPipeline ? 10 : 5)
    if isPipeline {
      guard let width = Int(canvas) ?? (isShipped ? 0 : nil) else {
        throw OptionError(description: "--canvas is neither a width nor 'shipped': \(canvas)")
      }
      // Blobs are durable before they are visible; a file system in memory makes that quick.
      var template = Array("/dev/shm/take5-mutate-XXXXXX".utf8CString)
      guard mkdtemp(&template) != nil else { throw SystemError(call: "mkdtemp") }
      let folder = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
      self.folder = folder
      pipeline = try Pipeline(isShipped ? .shipped() : .small(width: width), folder: folder)
    } else {
      (pipeline, folder) = (nil, nil)
    }
  }

  /// Runs the range; false after a finding.
  func run() async throws -> Bool {
    if let keep { return try await replay(to: keep) }
    var run =
      pipeline.map { MutationRun(mutator, through: $0, folder: folder ?? "") } ?? MutationRun(parsersOf: mutator)
    var tally = Tally()
    let size: UInt64 = isPipeline ? 500 : 50_000
    for start in stride(from: seeds.lowerBound, to: seeds.upperBound, by: UInt64.Stride(size)) {
      let range = start..<min(seeds.upperBound, start + size)
      if done.contains(where: { $0.part == part && $0.start <= range.lowerBound && $0.end >= range.upperBound }) {
        continue
      }
      let clock = ContinuousClock.now
      let new = try await run.run(range)
      let seconds = clock.duration(to: .now) / .seconds(1)
      printLine("\(range): \(Int(Double(range.count) / seconds)) per second, \(Self.summary(new))")
      for finding in new.findings { printLine("  \(finding)") }
      if let record {
        try RangeRecord(part: part, seeds: range, seconds: seconds, tally: new, growth: run.growth).append(to: record)
      }
      tally.merge(new)
    }
    await pipeline?.media.stop()
    if let folder { try Folder.remove(folder) }
    printLine("total: \(Self.summary(tally))")
    for (name, count) in tally.endings("") where !name.hasPrefix("depth") { printLine("  \(count) \(name)") }
    return tally.findings.isEmpty
  }

  /// Runs the first seed and keeps its files.
  private func replay(to path: String) async throws -> Bool {
    let seed = seeds.lowerBound
    let outcome: Outcome
    if let pipeline {
      let job = mutator.job(seed: seed)
      for (name, bytes) in job.files {
        try Descriptor(writing: "\(path).\(name)", replacing: true).write(bytes)
        printLine("\(path).\(name): \(bytes.count) bytes")
      }
      outcome = try await pipeline.run(job)
      await pipeline.media.stop()
    } else {
      let (bytes, isPhoto) = mutator.file(seed: seed)
      try Descriptor(writing: path, replacing: true).write(bytes)
      outcome = Parsers.run(bytes, isPhoto: isPhoto)
    }
    if let folder { try Folder.remove(folder) }
    printLine("seed \(seed): \(outcome)")
    return outcome.finding == nil
  }

  private static func summary(_ tally: Tally) -> String {
    Outcome.Depth.allCases.dropFirst().map { depth in
      "\(100 * tally.count(reaching: depth) / max(1, tally.total)) % \(depth)"
    }.joined(separator: ", ")
  }
}

/// Prints a line and flushes it.
private func printLine(_ line: String) {
  print(line)
  fflush(nil)
}
