import Glibc
import Model
import Platform
import Postgres
import Queue

/// The operator of a storm over reprocessing: begins runs, and resumes each whose command was killed until it is completed.
actor StormCommands {
  private final class Command {
    let kind: StormMedium.Kind
    var member: Member
    var isOver = false

    init(kind: StormMedium.Kind, member: Member) {
      self.kind = kind
      self.member = member
    }
  }

  /// The latest run over a kind.
  private struct Latest: Sendable {
    let id: PublicID
    let isCompleted: Bool
    let failed: Int
  }

  private let run: ChaosRun
  private let blobs: String
  private let definitions: [StormMedium.Kind: String]
  private var failpoints: StormFailpoints
  private var commands: [Command] = []
  /// Runs of earlier rounds.
  private var known: Set<PublicID> = []
  private var started = 0
  private(set) var kills = 0

  init(
    _ run: ChaosRun, blobs: String, definitions: [StormMedium.Kind: String], failpoints: StormFailpoints
  ) {
    self.run = run
    self.blobs = blobs
    self.definitions = definitions
    self.failpoints = failpoints
  }

  /// Runs over all kinds at once, to their end; false if one of them does not end as it should within `limit`.
  func carryOut(_ round: ReprocessRound, within limit: Duration) async throws -> Bool {
    let end = ContinuousClock.now + limit
    commands = try StormMedium.Kind.allCases.map { kind in
      Command(kind: kind, member: try begin(round, kind))
    }
    while let command = commands.first(where: { !$0.isOver }) {
      guard ContinuousClock.now < end else { return false }
      for command in commands where command.member.child.ending != nil { try await goOn(command, round) }
      if !command.isOver { try await Task.sleep(for: .milliseconds(50)) }
    }
    return true
  }

  /// Kills one of those that run.
  func kill(_ random: inout SplitMix64) throws {
    let running = commands.filter { $0.member.child.ending == nil }
    guard let command = running.randomElement(using: &random) else { return }
    try run.note(fault: .kill, command.member)
    command.member.child.kill(SIGKILL)
  }

  private func goOn(_ command: Command, _ round: ReprocessRound) async throws {
    guard !command.isOver else { return }
    if command.member.child.ending == .killed(signal: SIGKILL) { kills += 1 }
    command.member.proxy.stop()
    // What its connection was still about is done, or was rolled back.
    while try await connections(of: command.member) > 0 { try await Task.sleep(for: .milliseconds(10)) }
    guard let latest = try await latestRun(over: command.kind), !known.contains(latest.id) else {
      // It was killed before there was a run.
      return command.member = try begin(round, command.kind)
    }
    if latest.isCompleted && latest.failed == 0 {
      known.insert(latest.id)
      return command.isOver = true
    }
    // A job that lost three workers waits for an operator: then the run goes on with it.
    if latest.failed > 0 { try await retryDead() }
    if latest.isCompleted {
      try await Task.sleep(for: .milliseconds(100))
    } else {
      command.member = try start(["reprocess", "resume", latest.id.description])
    }
  }

  private func begin(_ round: ReprocessRound, _ kind: StormMedium.Kind) throws -> Member {
    guard let path = definitions[kind] else { throw ServiceFailure("there is no definition of \(kind.rawValue)") }
    return try start(["reprocess", "--definition", path, "--kind", kind.rawValue] + round.words)
  }

  private func start(_ words: [String]) throws -> Member {
    started += 1
    return try run.program(
      .command, "command-\(started)", Take5Program.path, words + ["--data", blobs], failpoints: failpoints.next())
  }

  private func connections(of member: Member) async throws -> Int {
    try await run.pool.run { session in
      try session.execute(ChaosSchema.statements["connections"], .text(member.name)).single().get(0)
    }
  }

  private func latestRun(over kind: StormMedium.Kind) async throws -> Latest? {
    try await run.pool.run { session in
      try session.execute(ChaosSchema.statements["latest_run"], .text(kind.rawValue)).first.map { row in
        Latest(
          id: try row.publicID("public_id"), isCompleted: try row.get("state", as: String.self) == "completed",
          failed: try row.get("failed"))
      }
    }
  }

  private func retryDead() async throws {
    let retry = try ChaosProcess(
      "operator", path: Take5Program.path,
      arguments: ["jobs", "retry", "--state", "dead", "--all", "--database", run.database.connectionString],
      log: "\(run.folder)/operator.log")
    _ = await retry.end(within: .seconds(30))
  }
}
