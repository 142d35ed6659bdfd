import Integrity
import Model
import Postgres
import Store
import Worker

extension Subcommand {
  static let gc = Subcommand(
    "gc", abstract: "Remove files and rows that nothing refers to; the service may run meanwhile.",
    options: [
      Option("--dry-run", help: "print what would be removed and change nothing"), .grace, .releasedPause,
    ] + Option.storeAccess,
    example: "take5 gc --dry-run"
  ) { arguments in
    let configuration = try ServiceConfiguration([.grace, .releasedPause], arguments)
    let (grace, releasedPause) = (configuration.worker.grace, configuration.releasedPause)
    let bar = ProgressBar("collecting")
    let report = try await StoreIntegrity.use(arguments, releasedPause: releasedPause) { integrity in
      let collector = Collector(
        pool: integrity.pool, store: integrity.store, blobs: integrity.blobs, grace: grace
      ) { fraction in
        bar.show(fraction)
      }
      return arguments.has("--dry-run") ? try await collector.dryRun() : try await collector.run()
    }
    bar.clear()
    try Console.print(arguments.has("--json") ? try JSON.text(report) : report.text)
    return .success
  }

  static let gcHold = Subcommand(
    "gc hold",
    abstract: "Prevent the removal of blobs for a while, so that a later copy of the blobs matches a database dump.",
    options: [
      Option("--for", "TIME", default: "6h", help: "duration after which the hold expires: 30m, 6h, 2d")
    ] + Option.storeAccess,
    example: "take5 gc hold --for 6h"
  ) { arguments in
    let duration = try arguments.duration("--for") ?? .seconds(6 * 3600)
    let until = try await DatabaseAccess.use(arguments) { pool in
      try await pool.transaction { session in try Collecting.hold(for: duration, session) }
    }
    let time = JSON.text(of: until)
    try Console.print(arguments.has("--json") ? #"{"held_until":"\#(time)"}"# : "no blobs are removed until \(time)")
    return .success
  }

  static let gcRelease = Subcommand(
    "gc release", abstract: "End the hold of 'gc hold'; status 1 if it had already expired.",
    options: Option.storeAccess,
    example: "take5 gc release"
  ) { arguments in
    let wasHeld = try await DatabaseAccess.use(arguments) { pool in
      try await pool.run { session in try Collecting.releaseHold(session) }
    }
    try Console.print(
      arguments.has("--json")
        ? #"{"released":\#(wasHeld)}"#
        : wasHeld ? "the hold is released" : "no hold was active: it had expired, and blobs may have been removed since"
    )
    // A copy that was made meanwhile may lack blobs: the status says so.
    return wasHeld ? .success : .inconsistent
  }
}

extension CollectReport {
  /// The report as text.
  fileprivate var text: String {
    var lines = [
      Self.line(retiredSets, "retired asset set"), Self.line(orphanSets, "orphan asset set"),
      Self.line(blobs, "orphan blob"), Self.line(orphanFiles, "orphan file"),
      Self.line(stagedFiles, "abandoned staged file"), Self.line(answers, "expired idempotency key"),
    ].compactMap(\.self).map { "\(isDryRun ? "would remove" : "removed") \($0)" }
    if let waiting = Self.line(waiting, "released blob") { lines.append("not yet removed: \(waiting)") }
    if let heldUntil {
      lines.append("no blobs are removed until \(JSON.text(of: heldUntil)), because of 'take5 gc hold'")
    }
    return lines.isEmpty ? "nothing to remove" : lines.joined(separator: "\n")
  }

  private static func line(_ count: Int, _ noun: String) -> String? { count == 0 ? nil : CountText.text(count, noun) }

  private static func line(_ amount: Amount, _ noun: String) -> String? {
    amount.count == 0 ? nil : "\(CountText.text(amount.count, noun)), \(amount.bytes) bytes"
  }
}
