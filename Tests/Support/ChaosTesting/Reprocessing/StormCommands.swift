import Glibc
import Model
import Platform
import Postgres
import Queue
import SeededRandom
import WaitTesting

/// The operator of a storm over reprocessing, who starts runs and resumes those whose command was killed.
actor StormCommands {
  /// The latest run of a kind.
  private struct Latest: Sendable {
    let id: PublicID
    let isCompleted: Bool
    let failed: Int
  }

  private let run: ChaosRun
  private let data: String
  private let definitions: StormDefinitions
  private let failpoints: [String]
  private var random: SplitMix64
  private var running: [StormMedium.Kind: Participant] = [:]
  /// The runs of earlier rounds.
  private var known: Set<PublicID> = []
  private var started = 0
  private(set) var kills = 0

  init(_ run: ChaosRun, data: String, definitions: StormDefinitions, failpoints: [String], seed: UInt64) {
    (self.run, self.data, self.definitions, self.failpoints) = (run, data, definitions, failpoints)
    random = SplitMix64(seed: seed)
  }

  /// Performs the runs of a round concurrently; false if they are not completed within `limit`.
  func perform(_ round: ReprocessRound, within limit: Duration) async throws -> Bool {
    let end = ContinuousClock.now + limit
    return try await withThrowingTaskGroup(of: Bool.self) { group in
      for kind in StormMedium.Kind.allCases { group.addTask { try await self.perform(round, kind, until: end) } }
      var isComplete = true
      for try await isDone in group { isComplete = isComplete && isDone }
      return isComplete
    }
  }

  private func perform(
    _ round: ReprocessRound, _ kind: StormMedium.Kind, until end: ContinuousClock.Instant
  ) async throws -> Bool {
    let first = ["reprocess", "--definition", definitions.changed(kind), "--kind", kind.rawValue] + round.arguments
    var arguments = first
    while ContinuousClock.now < end {
      started += 1
      let command = try run.program(
        .command, "command-\(started)", ProgramPath.take5, arguments + ["--data", data],
        failpoints: random.failpointOfReprocessing(failpoints))
      running[kind] = command
      let ending = await command.child.end(within: ContinuousClock.now.duration(to: end))
      running[kind] = nil
      if ending == .killed(signal: SIGKILL) { kills += 1 }
      command.proxy?.stop()
      // Its last transaction ends with the connection.
      let deadline = Deadline("the end of the last transaction")
      while try await connections(of: command) > 0 {
        try deadline.check()
        try await Task.sleep(for: .milliseconds(10))
      }
      arguments = first
      // Without a run of this round, the command was killed before it created one.
      while ContinuousClock.now < end, let latest = try await latestRun(of: kind), !known.contains(latest.id) {
        if latest.isCompleted && latest.failed == 0 {
          known.insert(latest.id)
          return true
        }
        // A job that lost three workers is dead until an operator retries it; then the run continues.
        if latest.failed > 0 {
          let retry = ["jobs", "retry", "--state", "dead", "--all"]
          _ = try await run.violations(ofRunning: retry, within: .seconds(30))
        }
        guard latest.isCompleted else {
          arguments = ["reprocess", "resume", latest.id.description]
          break
        }
        try await Task.sleep(for: .milliseconds(100))
      }
    }
    return false
  }

  /// Kills a running command.
  func kill(_ choice: UInt64) throws {
    let candidates = StormMedium.Kind.allCases.compactMap { running[$0] }.filter { $0.child.ending == nil }
    guard !candidates.isEmpty else { return }
    let command = candidates[Int(choice % UInt64(candidates.count))]
    try run.record(fault: .kill, command)
    command.child.kill(SIGKILL)
  }

  private func connections(of participant: Participant) async throws -> Int {
    try await run.pool.run { session in
      try session.execute(ChaosSchema.statements["connections"], .text(participant.name)).single().get(0)
    }
  }

  private func latestRun(of kind: StormMedium.Kind) async throws -> Latest? {
    try await run.pool.run { session in
      try session.execute(ChaosSchema.statements["latest_run"], .text(kind.rawValue)).first.map { row in
        Latest(
          id: try row.publicID("public_id"), isCompleted: try row.get("state", as: String.self) == "completed",
          failed: try row.get("failed"))
      }
    }
  }
}

/// A set of concurrent runs, one for each kind of media.
struct ReprocessRound: Sendable {
  let title: String
  let arguments: [String]
  /// Whether every item is done, or skipped.
  var isDone = true

  /// By workers, without a change.
  static let forced = ReprocessRound(title: "forced", arguments: ["--force"])

  /// The rounds of every storm: by workers, with a changed definition; by the command itself, without a change; and by
  /// workers, which find that nothing has changed. `forced` is repeated until enough processes were killed.
  static let usual = [
    ReprocessRound(title: "changed", arguments: []),
    ReprocessRound(title: "local", arguments: ["--force", "--local", "--slots", "1"]),
    ReprocessRound(title: "again", arguments: [], isDone: false),
  ]
}

extension SplitMix64 {
  /// Returns a value of `TAKE5_FAILPOINTS` that kills a process, in two of three cases, mostly at the replacement of
  /// outputs.
  mutating func failpointOfReprocessing(_ names: [String]) -> String? {
    guard Int.random(in: 0..<3, using: &self) > 0 else { return nil }
    let replacing = names.filter { name in
      ["reprocessing.", "store.insert_", "blob"].contains { name.hasPrefix($0) }
    }
    let isReplacing = Int.random(in: 0..<4, using: &self) > 0
    return failpoint(of: isReplacing ? replacing : names, upTo: 12, killsInTen: 10, stopsInTen: 0)
  }
}
