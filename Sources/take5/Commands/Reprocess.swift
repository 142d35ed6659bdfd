import Glibc
import MediaProcess
import Model
import Platform
import Postgres
import Queue
import Store
import Telemetry
import Worker

extension Subcommand {
  static let reprocess = Subcommand(
    "reprocess",
    abstract: "Make the outputs of stored posts and images again, newest first, while the service runs.",
    operands: ["[ID]…"],
    options: [
      Option(
        "--kind", "KINDS", .list(of: SubjectKind.self),
        help: "comma-separated list of take5, photo, marker, reaction, profile, itinerary, place"),
      Option("--made-by", "NAME", help: "items whose outputs were made with the definition of this name"),
      Option(
        "--version-below", "N", .anyPositive,
        help: "items whose outputs were made with a lower version of the definition"),
      Option(
        "--created-after", "TIME",
        help: "items created after this time: 2026-11-20T18:30:00Z, 2026-11-20, or 45s, 30m, 2h, 7d before now"),
      Option("--created-before", "TIME", help: "items created before this time"),
      Option("--author", "NAME", help: "items of this author"),
      Option("--ids", "FILE", help: "items whose ids are in this file; - is standard input"),
      Option(
        "--state", "STATES", .list(of: ReprocessSelection.Status.self), default: "ready",
        help: "comma-separated list of ready, failed, rejected"),
      Option("--rejected", help: "items whose media were rejected and whose sources are still kept: judge them again"),
      Option("--reason", "CODE", .choice(of: ReasonCode.self), help: "rejected items with this reason"),
      Option(
        "--missing", "ROLE", .choice(of: Role.self),
        help: "items without an output of this role, such as composed, poster or thumbnail"),
      Option("--error", "TEXT", help: "items whose last error contains this text, ignoring case"),
      Option("--limit", "N", .anyPositive, help: "maximum number of items, newest first"),
      Option("--definition", "FILE", help: "use this definition instead of the built-in one of the same name"),
      Option("--dry-run", help: "print what would be reprocessed and change nothing"),
      Option("--force", help: "reprocess also items whose outputs would not change"),
      Option("--keep-old", help: "keep replaced outputs permanently, not only for the grace period"),
      Option("--rate", "N", help: "maximum number of items per second"),
      Option("--priority", "N", .integer(0...9), default: "5", help: "priority among runs, 0 to 9; 0 is the highest"),
      Option("--detach", help: "start the run and do not wait for its end"),
      .local,
      .localSlots,
    ] + Option.store + [.mediaMemory, .sandbox, .json],
    example: "take5 reprocess --kind take5 --version-below 2 --dry-run"
  ) { (arguments, signals: StopSignals) in
    let request = try ReprocessRequest(arguments)
    try checkDetached(arguments)
    if arguments.has("--dry-run") {
      return try await Interruption.run(until: signals) { try await plan(request, arguments) }
    }
    return try await ReprocessCommand.use(arguments) { command in
      let blobs = try await command.openBlobs()
      let id = try await command.pool.transaction { session in
        try Reprocessing.create(request, session)
      }
      guard let id else {
        try Console.print(arguments.has("--json") ? #"{"items":{},"total":0}"# : "no posts or images are selected")
        return .success
      }
      return try await command.follow(id, with: blobs, isDetached: arguments.has("--detach"), until: signals)
    }
  }

  private static func checkDetached(_ arguments: Arguments) throws(CommandFailure) {
    guard arguments.has("--local"), arguments.has("--detach") else { return }
    throw CommandFailure(
      .usage, "--local runs a worker in this process and cannot be combined with --detach", remedy: "omit one of them")
  }

  private static func plan(_ request: ReprocessRequest, _ arguments: Arguments) async throws -> ExitStatus {
    let plan = try await DatabaseAccess.use(arguments) { pool in
      return try await pool.run { session in
        try session.snapshot { session in
          try ReprocessPlan(
            Reprocessing.summarize(request, session),
            withoutSources: Reprocessing.countWithoutSources(request, session))
        }
      }
    }
    if arguments.has("--json") {
      try Console.print(try JSON.text(plan))
    } else {
      try Console.print("would reprocess \(plan.items == 1 ? "1 post or image" : "\(plan.items) posts and images")")
      for line in plan.lines { try Console.print(line) }
    }
    return .success
  }

  static func runNotFound(_ id: PublicID) -> CommandFailure {
    CommandFailure(.inputMissing, "run \(id) not found", remedy: "'take5 reprocess status' lists the runs")
  }

  static let reprocessStatus = Subcommand(
    "reprocess status",
    abstract: "Show the progress of the reprocessing runs, newest first, or of one run with its failures.",
    operands: ["[RUN]"],
    options: [Option("--limit", "N", .integer(1...1000), default: "20", help: "maximum number of runs or failures")]
      + Option.storeAccess,
    example: "take5 reprocess status"
  ) { arguments in
    let limit = try arguments.number("--limit") ?? 20
    let named = try arguments.operands.first.map { try runID($0) }
    let reports = try await DatabaseAccess.use(arguments) { pool in
      try await pool.run { session in
        try session.snapshot { session in
          guard let named else {
            return try Reprocessing.list(limit: limit, session).map {
              ReprocessReport($0, try Reprocessing.counts(of: $0, session))
            }
          }
          guard let run = try Reprocessing.find(named, session) else { throw runNotFound(named) }
          return [try ReprocessReport(run, limit: limit, session)]
        }
      }
    }
    for report in reports { try Console.print(arguments.has("--json") ? try JSON.text(report) : report.text) }
    if reports.isEmpty, !arguments.has("--json") { try Console.print("no runs") }
    return .success
  }

  static let reprocessPause = Subcommand(
    "reprocess pause",
    abstract: "Pause a run: items that are being processed finish, and no others start until it is resumed.",
    operands: ["RUN"], options: Option.storeAccess,
    example: "take5 reprocess pause 0199f0c2-8a1e-7c3d-9b5a-2f6d8e1c4a70"
  ) { arguments in
    try await change(arguments, to: .paused)
  }

  static let reprocessResume = Subcommand(
    "reprocess resume", abstract: "Resume a paused run and show its progress.",
    operands: ["RUN"],
    options: [
      Option("--detach", help: "do not wait for the end of the run"), .local, .localSlots, .mediaMemory, .sandbox,
    ] + Option.storeAccess,
    example: "take5 reprocess resume 0199f0c2-8a1e-7c3d-9b5a-2f6d8e1c4a70 --detach"
  ) { (arguments, signals: StopSignals) in
    let id = try runID(arguments.operands[0])
    try checkDetached(arguments)
    return try await ReprocessCommand.use(arguments) { command in
      let blobs = try await command.openBlobs()
      try await command.pool.transaction { session in
        guard let run = try Reprocessing.find(id, session) else { throw runNotFound(id) }
        guard try Reprocessing.change(run, to: .running, session) else { throw runFinished(id) }
      }
      return try await command.follow(id, with: blobs, isDetached: arguments.has("--detach"), until: signals)
    }
  }

  static let reprocessCancel = Subcommand(
    "reprocess cancel", abstract: "Cancel a run: items that are already processed keep their new outputs.",
    operands: ["RUN"], options: Option.storeAccess,
    example: "take5 reprocess cancel 0199f0c2-8a1e-7c3d-9b5a-2f6d8e1c4a70"
  ) { arguments in
    try await change(arguments, to: .cancelled)
  }

  private static func change(_ arguments: Arguments, to state: ReprocessRun.State) async throws -> ExitStatus {
    let id = try runID(arguments.operands[0])
    try await DatabaseAccess.use(arguments) { pool in
      try await pool.transaction { session in
        guard let run = try Reprocessing.find(id, session) else { throw runNotFound(id) }
        guard try Reprocessing.change(run, to: state, session) else { throw runFinished(id) }
      }
    }
    let json = try JSON.text(["id": id.description, "state": state.rawValue])
    try Console.print(arguments.has("--json") ? json : "run \(id) is \(state.rawValue)")
    return .success
  }

  private static func runID(_ text: String) throws(CommandFailure) -> PublicID {
    guard let id = PublicID(text) else {
      throw CommandFailure(.usage, "'\(text)' is not the id of a run", remedy: "'take5 reprocess status' lists the ids")
    }
    return id
  }

  private static func runFinished(_ id: PublicID) -> CommandFailure {
    CommandFailure(.rejected, "run \(id) has finished", remedy: "start a new run with 'take5 reprocess'")
  }
}

extension Option {
  fileprivate static let local = Option(
    "--local", help: "run a worker for the items in this process until the run ends")
  fileprivate static let localSlots = Option(
    "--slots", "N", .integer(1...256), help: "with --local: items that are made at the same time; default: one per core"
  )
}
