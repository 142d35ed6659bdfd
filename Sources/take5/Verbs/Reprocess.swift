import Glibc
import Logging
import MediaProcess
import Model
import Platform
import Postgres
import Queue
import Store
import Worker

extension Subcommand {
  static let reprocess = Subcommand(
    "reprocess",
    abstract: "Make the outputs of stored posts and images again, beside the live work; the newest first.",
    operands: ["[ID]…"],
    options: [
      Option("--kind", "KINDS", help: "take5, photo, marker, reaction, profile, itinerary, place; with commas"),
      Option("--made-by", "NAME", help: "whose outputs a definition of this name made"),
      Option("--version-below", "N", help: "whose outputs a version before this one made"),
      Option("--created-after", "TIME", help: "posted since: 2026-11-20T18:30:00Z, or so long ago: 45s, 30m, 2h, 7d"),
      Option("--created-before", "TIME", help: "posted before"),
      Option("--author", "NAME", help: "whose posts and images"),
      Option("--ids", "FILE", help: "only those whose ids are in this file; - is standard input"),
      Option("--state", "STATES", default: "ready", help: "ready, failed; with commas"),
      Option("--missing", "ROLE", help: "whose outputs have none of this role: composed, poster, thumbnail..."),
      Option("--error", "TEXT", help: "whose last error contains this, whatever the case of its letters"),
      Option("--limit", "N", help: "so many at most, the newest"),
      Option("--definition", "FILE", help: "a changed definition instead of the built-in one of its name"),
      Option("--dry-run", help: "say what it would be about, and change nothing"),
      Option("--force", help: "also what would come out as it is"),
      Option("--keep-old", help: "keep the replaced outputs for good, instead of for the grace period"),
      Option("--rate", "N", help: "so many a second at most"),
      Option("--priority", "N", default: "5", help: "0 to 9, among the runs: 0 comes first"),
      Option("--detach", help: "begin, and do not wait for the end"),
      Option("--local", help: "do the work in this process, without workers"),
      Option("--slots", "N", help: "with --local: items at a time; one for each core unless told"), .data, .database,
      .pooling, .mediaMemory, .json,
    ],
    example: "take5 reprocess --kind take5 --version-below 2 --dry-run"
  ) { (arguments, signals: StopSignals) in
    let request = try ReprocessRequest(arguments)
    if request.isLocal, arguments.has("--detach") {
      throw CommandFailure(.usage, "--local is done by this process: it cannot detach", remedy: "leave one of them out")
    }
    if arguments.has("--dry-run") {
      return try await Interruption.run(until: signals) { try await plan(request, arguments) }
    }
    return try await Reprocessing.use(arguments) { reprocessing in
      if request.isLocal { try await reprocessing.checkBlobs() }
      let id = try await reprocessing.pool.transaction { session in
        try reprocessing.store.beginRun(request, session)
      }
      guard let id else {
        try Console.print(arguments.has("--json") ? #"{"items":{},"total":0}"# : "nothing stored is meant by that")
        return .done
      }
      return try await reprocessing.follow(id, isDetached: arguments.has("--detach"), until: signals)
    }
  }

  private static func plan(_ request: ReprocessRequest, _ arguments: Arguments) async throws -> ExitStatus {
    let plan = try await DatabaseAccess.use(arguments) { pool in
      let store = Store(blobs: ClosedBlobStore())
      return try await pool.run { session in
        try session.snapshot { session in
          ReprocessPlan(
            try store.summarize(request, session), of: request,
            withoutSources: try store.countWithoutSources(request, session))
        }
      }
    }
    if arguments.has("--json") {
      try Console.print(try JSON.text(plan))
    } else {
      try Console.print("it would be \(plan.items) posts and images")
      for line in plan.lines { try Console.print(line) }
    }
    return .done
  }

  static func noRun(_ id: PublicID) -> CommandFailure {
    CommandFailure(.inputMissing, "there is no run \(id)", remedy: "'take5 reprocess status' shows what there is")
  }
}
