import Integrity
import Model
import Postgres
import Store

extension Subcommand {
  static let gc = Subcommand(
    "gc", abstract: "Remove what nothing refers to; it may be done while the service writes.",
    options: [
      Option("--dry-run", help: "tell what it would be, and change nothing"),
      .grace, .data, .database, .pooling, .json,
    ],
    example: "take5 gc --dry-run"
  ) { arguments in
    let grace = Duration.seconds(try arguments.seconds(Option.grace.name) ?? 0)
    let bar = ProgressBar("collecting")
    let report = try await StoreIntegrity.use(arguments) { integrity in
      let collector = Collector(
        pool: integrity.pool, store: integrity.store, blobs: integrity.blobs, grace: grace
      ) { fraction in
        bar.show(fraction)
      }
      return arguments.has("--dry-run") ? try await collector.dryRun() : try await collector.run()
    }
    bar.clear()
    try Console.print(arguments.has("--json") ? try JSON.text(report) : report.text)
    return .done
  }

  static let gcHold = Subcommand(
    "gc hold",
    abstract: "Let no blob be removed by anybody for a while, so that a dump and a later copy of the blobs fit.",
    options: [
      Option("--for", "TIME", default: "6h", help: "it ends by itself: 30m, 6h, 2d"), .data, .database, .pooling, .json,
    ],
    example: "take5 gc hold --for 6h"
  ) { arguments in
    let span = try arguments.span("--for") ?? .seconds(6 * 3600)
    let store = Store(blobs: ClosedBlobStore())
    let until = try await DatabaseAccess.use(arguments) { pool in
      try await pool.transaction { session in try store.holdCollecting(for: span, session) }
    }
    let time = JSON.text(of: until)
    try Console.print(arguments.has("--json") ? #"{"held_until":"\#(time)"}"# : "no blob is removed until \(time)")
    return .done
  }

  static let gcRelease = Subcommand(
    "gc release", abstract: "End 'gc hold'; status 1 if it had ended by itself.",
    options: [.data, .database, .pooling, .json],
    example: "take5 gc release"
  ) { arguments in
    let store = Store(blobs: ClosedBlobStore())
    let wasHeld = try await DatabaseAccess.use(arguments) { pool in
      try await pool.run { session in try store.releaseCollecting(session) }
    }
    try Console.print(
      arguments.has("--json")
        ? #"{"released":\#(wasHeld)}"#
        : wasHeld ? "blobs may be removed again" : "no hold stood any more: blobs may have been removed before this")
    // Who made a copy meanwhile must know.
    return wasHeld ? .done : .notWhole
  }
}
