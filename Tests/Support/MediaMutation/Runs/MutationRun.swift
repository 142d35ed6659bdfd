import MediaProcess
import Platform

/// Runs mutations by their seeds, and counts how they end.
package struct MutationRun {
  private let mutator: Mutator
  /// Nil: the parsers only.
  private let pipeline: Pipeline?
  /// The folder of blobs.
  private let folder: String?
  private var before: Resources?
  /// The process of the fork server at the first measurement.
  private var server: Int32?
  /// The largest growth of memory in bytes since the first measurement, of this process and of the fork server.
  package private(set) var growth = [0, 0]

  /// The mutations after which allocators, caches and libraries have what they need.
  private static let warmUp: UInt64 = 100

  /// Passes mutations to the parsers only.
  package init(parsersOf mutator: Mutator) {
    self.mutator = mutator
    pipeline = nil
    folder = nil
  }

  /// Passes mutations to a media process.
  package init(_ mutator: Mutator, through pipeline: Pipeline, folder: String) {
    self.mutator = mutator
    self.pipeline = pipeline
    self.folder = folder
  }

  /// Runs a range of seeds.
  ///
  /// - Parameter each: receives each outcome.
  package mutating func run(
    _ seeds: Range<UInt64>, each: (UInt64, Outcome) -> Void = { _, _ in }
  ) async throws -> Tally {
    var tally = Tally()
    for seed in seeds {
      CurrentSeed.store(seed)
      let outcome: Outcome
      if let pipeline {
        outcome = try await pipeline.run(mutator.job(seed: seed))
      } else {
        let (bytes, isPhoto) = mutator.file(seed: seed)
        outcome = Parsers.run(bytes, isPhoto: isPhoto)
      }
      tally.add(outcome, seed: seed)
      each(seed, outcome)
      if before == nil, seed - seeds.lowerBound >= Self.warmUp { before = try await measure() }
    }
    if let leak = try await leak() { tally.add(finding: "seeds \(seeds): \(leak)") }
    return tally
  }

  private mutating func measure() async throws -> Resources {
    let process = await pipeline?.media.processID
    // Another fork server starts with another memory.
    if process != server { before = nil }
    server = process
    return try Resources(server: process, folder: folder)
  }

  private mutating func leak() async throws -> String? {
    let now = try await measure()
    guard let before else {
      before = now
      return nil
    }
    growth = [
      max(growth[0], now.memory - before.memory), max(growth[1], now.serverMemory - before.serverMemory),
    ]
    return now.leak(since: before)
  }
}
