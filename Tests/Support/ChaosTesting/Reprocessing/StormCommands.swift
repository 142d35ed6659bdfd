import Glibc
import Model
import Platform
import Postgres
import Queue
import SeededRandom

/// The operator of a storm over reprocessing, who starts runs and resumes those whose command was killed.
actor StormCommands {
  private final class Command {
    let kind: StormMedium.Kind
    var participant: Participant
    var isFinished = false

    init(kind: StormMedium.Kind, participant: Participant) {
      self.kind = kind
      self.participant = participant
    }
  }

  /// The latest run of a kind.
  private struct Latest: Sendable {
    let id: PublicID
    let isCompleted: Bool
    let failed: Int
  }

  private let run: ChaosRun
  private let data: String
  private let definitions: [StormMedium.Kind: String]
  private var failpoints: StormFailpoints
  private var commands: [Command] = []
  /// The runs of earlier rounds.
  private var known: Set<PublicID> = []
  private var started = 0
  private(set) var kills = 0

  init(
    _ run: ChaosRun, data: String, definitions: [StormMedium.Kind: String], failpoints: StormFailpoints
  ) {
    self.run = run
    self.data = data
    self.definitions = definitions
    self.failpoints = failpoints
  }

  /// Performs the runs of a round concurrently; false if they are not completed within `limit`.
  func perform(_ round: ReprocessRound, within limit: Duration) async throws -> Bool {
    let end = ContinuousClock.now + limit
    commands = try StormMedium.Kind.allCases.map { kind in
      Command(kind: kind, participant: try start(round, kind))
    }
    while let command = commands.first(where: { !$0.isFinished }) {
      guard ContinuousClock.now < end else { return false }
      for command in commands where command.participant.child.ending != nil { try await advance(command, round) }
      if !command.isFinished { try await Task.sleep(for: .milliseconds(50)) }
    }
    return true
  }

  /// Kills a running command.
  func kill(_ random: inout SplitMix64) throws {
    let running = commands.filter { $0.participant.child.ending == nil }
    guard let command = running.randomElement(using: &random) else { return }
    try run.record(fault: .kill, command.participant)
    command.participant.child.kill(SIGKILL)
  }

  private func advance(_ command: Command, _ round: ReprocessRound) async throws {
    guard !command.isFinished else { return }
    if command.participant.child.ending == .killed(signal: SIGKILL) { kills += 1 }
    command.participant.proxy.stop()
    // Its last transaction ends with the connection.
    while try await connections(of: command.participant) > 0 { try await Task.sleep(for: .milliseconds(10)) }
    guard let latest = try await latestRun(of: command.kind), !known.contains(latest.id) else {
      // The command was killed before it created a run.
      return command.participant = try start(round, command.kind)
    }
    if latest.isCompleted && latest.failed == 0 {
      known.insert(latest.id)
      return command.isFinished = true
    }
    // A job that lost three workers is dead until an operator retries it; then the run continues.
    if latest.failed > 0 { try await retryDead() }
    if latest.isCompleted {
      try await Task.sleep(for: .milliseconds(100))
    } else {
      command.participant = try start(["reprocess", "resume", latest.id.description])
    }
  }

  private func start(_ round: ReprocessRound, _ kind: StormMedium.Kind) throws -> Participant {
    guard let path = definitions[kind] else { throw ServiceFailure("\(kind.rawValue) has no definition") }
    return try start(["reprocess", "--definition", path, "--kind", kind.rawValue] + round.arguments)
  }

  private func start(_ arguments: [String]) throws -> Participant {
    started += 1
    return try run.program(
      .command, "command-\(started)", ProgramPath.take5, arguments + ["--data", data], failpoints: failpoints.next())
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

  private func retryDead() async throws {
    let retry = try ChaosProcess(
      "operator", path: ProgramPath.take5,
      arguments: ["jobs", "retry", "--state", "dead", "--all", "--database", run.database.connectionString],
      log: "\(run.folder)/operator.log")
    _ = await retry.end(within: .seconds(30))
  }
}
