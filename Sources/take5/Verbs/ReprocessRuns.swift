import Model
import Platform
import Postgres
import Store

extension Subcommand {
  private static let access: [Option] = [.data, .database, .pooling, .json]

  static let reprocessStatus = Subcommand(
    "reprocess status",
    abstract: "Tell where runs over stored media stand, the newest first, or one with its failures.",
    operands: ["[RUN]"],
    options: [Option("--limit", "N", default: "20", help: "how many runs, or failures, at most")] + access,
    example: "take5 reprocess status"
  ) { arguments in
    let limit = try arguments.number("--limit", in: 1...1000) ?? 20
    let store = Store(blobs: ClosedBlobStore())
    let named = try arguments.operands.first.map { try runID($0) }
    let reports = try await DatabaseAccess.use(arguments) { pool in
      try await pool.run { session in
        try session.snapshot { session in
          guard let named else {
            return try store.runs(limit: limit, session).map {
              ReprocessReport($0, try store.counts(of: $0, session))
            }
          }
          guard let run = try store.run(named, session) else { throw noRun(named) }
          var report = ReprocessReport(run, try store.counts(of: run, session))
          report.failures = try store.failures(of: run, limit: limit, session).map {
            ReprocessReport.Failure(id: $0.subject.id, error: $0.error)
          }
          return [report]
        }
      }
    }
    for report in reports { try Console.print(arguments.has("--json") ? try JSON.text(report) : report.text) }
    if reports.isEmpty, !arguments.has("--json") { try Console.print("no run yet") }
    return .done
  }

  static let reprocessPause = Subcommand(
    "reprocess pause", abstract: "Let a run rest: what is at work ends, and nothing begins until it is resumed.",
    operands: ["RUN"], options: access, example: "take5 reprocess pause 0199f0c2-8a1e-7c3d-9b5a-2f6d8e1c4a70"
  ) { arguments in
    try await change(arguments, to: .paused)
  }

  static let reprocessResume = Subcommand(
    "reprocess resume", abstract: "Let a paused run go on, and follow it; a local one is carried on by this process.",
    operands: ["RUN"],
    options: [
      Option("--detach", help: "do not wait for the end"),
      Option("--slots", "N", help: "of a local run: items at a time; one for each core unless told"), .mediaMemory,
    ] + access,
    example: "take5 reprocess resume 0199f0c2-8a1e-7c3d-9b5a-2f6d8e1c4a70 --detach"
  ) { (arguments, signals: StopSignals) in
    let id = try runID(arguments.operands[0])
    return try await Reprocessing.use(arguments) { reprocessing in
      try await reprocessing.pool.transaction { session in
        guard let run = try reprocessing.store.run(id, session) else { throw noRun(id) }
        guard try reprocessing.store.change(run, to: .running, session) else { throw isOver(id) }
      }
      return try await reprocessing.follow(id, isDetached: arguments.has("--detach"), until: signals)
    }
  }

  static let reprocessCancel = Subcommand(
    "reprocess cancel", abstract: "End a run: what is made again already stays, the rest stays as it was.",
    operands: ["RUN"], options: access, example: "take5 reprocess cancel 0199f0c2-8a1e-7c3d-9b5a-2f6d8e1c4a70"
  ) { arguments in
    try await change(arguments, to: .cancelled)
  }

  private static func change(_ arguments: Arguments, to state: ReprocessRun.State) async throws -> ExitStatus {
    let id = try runID(arguments.operands[0])
    let store = Store(blobs: ClosedBlobStore())
    try await DatabaseAccess.use(arguments) { pool in
      try await pool.transaction { session in
        guard let run = try store.run(id, session) else { throw noRun(id) }
        guard try store.change(run, to: state, session) else { throw isOver(id) }
      }
    }
    let answer = try JSON.text(["id": id.description, "state": state.rawValue])
    try Console.print(arguments.has("--json") ? answer : "run \(id) is \(state.rawValue)")
    return .done
  }

  private static func runID(_ text: String) throws(CommandFailure) -> PublicID {
    guard let id = PublicID(text) else {
      throw CommandFailure(.usage, "'\(text)' is no run's id", remedy: "'take5 reprocess status' shows the ids")
    }
    return id
  }

  private static func isOver(_ id: PublicID) -> CommandFailure {
    CommandFailure(.rejected, "run \(id) is over", remedy: "begin another with 'take5 reprocess'")
  }
}
