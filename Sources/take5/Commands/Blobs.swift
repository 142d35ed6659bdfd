import Blobs
import Crypto
import Integrity
import Model
import Postgres
import Store

extension Subcommand {
  static let blobsMove = Subcommand(
    "blobs move",
    abstract: "Copy all blobs to another store, and make it the store of the database; the service runs meanwhile.",
    options: [
      Option("--to", "URL", help: "the other store: s3://BUCKET/PREFIX?endpoint=URL, or folder for the data folder"),
      .parallelCopies,
      Option("--leave-damaged", help: "end the move although some blobs cannot be read, and leave these behind"),
      Option("--cancel", help: "cancel a move that has not ended: the blobs stay where they are"),
    ] + Option.storeAccess,
    example: "take5 blobs move --to 's3://moments/app?region=eu-central-1'"
  ) { arguments in
    if arguments.has("--cancel") {
      let isCancelled = try await DatabaseAccess.use(arguments) { pool in
        try await pool.transaction { session in try Moving.cancel(session) }
      }
      try Console.print(isCancelled ? "the move is cancelled" : "the blobs do not move")
      return .success
    }
    guard let to = arguments.value("--to") else {
      throw CommandFailure(.usage, "the other store is missing", remedy: "name it with --to")
    }
    let target = try BlobOptions.place(to, arguments)
    let bar = ProgressBar("moving")
    let report = try await move(to: target, arguments, bar)
    bar.clear()
    try Console.print(arguments.has("--json") ? try JSON.text(report) : report.text)
    return report.moved ? .success : .inconsistent
  }

  private static func move(
    to target: BlobOptions.Place, _ arguments: Arguments, _ bar: ProgressBar
  ) async throws -> MoveResult {
    let parallel = try arguments.number("--parallel") ?? 4
    return try await DatabaseAccess.use(arguments, connections: parallel + 1) { pool in
      let known = try await pool.run { session in try Moving.storeIDs(session) }
      // An interrupted command may have ended the move.
      if let known, try target.place.id() == known.current { return MoveResult(to: target.name, nil) }
      let source = try await BlobOptions.open(arguments, pool)
      let (blobs, id) = try target.place.open(.now())
      let mover = BlobMove(
        pool: pool, from: source, to: blobs, id: id, parallel: parallel,
        leavesDamaged: arguments.has("--leave-damaged")
      ) { fraction in bar.show(fraction) }
      do {
        return MoveResult(to: target.name, try await mover.run())
      } catch BlobMoveRefusal.otherMove {
        throw CommandFailure(
          .usage, "the blobs move to another store than \(target.name)",
          remedy: "name that with --to, or cancel its move with 'take5 blobs move --cancel'")
      } catch let error as BlobError {
        throw CommandFailure(
          .io, "the blobs cannot be moved: \(error)", remedy: "run the command again: it copies the rest")
      }
    }
  }
}

/// The result that `take5 blobs move` prints.
private struct MoveResult: Encodable {
  let to: String
  /// Whether the database uses the other store now.
  let moved: Bool
  let blobs: Int
  let copied: Int
  let bytes: Int64
  /// The hashes of the blobs that cannot be read, or whose rows have another length.
  let damaged: [String]

  /// - Parameter report: what the move has done; nil: the blobs were there before.
  init(to name: String, _ report: BlobMoveReport?) {
    to = name
    moved = report?.isFinished ?? true
    blobs = report?.blobs ?? 0
    copied = report?.copied ?? 0
    bytes = report?.bytes ?? 0
    damaged = report?.damaged.map(\.hex) ?? []
  }

  var text: String {
    var lines = damaged.map { "damaged: \($0)" }
    lines.append("copied \(copied) of \(CountText.text(blobs, "blob")), \(bytes) bytes")
    if moved {
      lines.append("the blobs of the database are in \(to): start every process with it as --blobs")
    } else {
      lines.append(
        "the blobs have not moved: 'take5 verify --repair' repairs what it can, --leave-damaged leaves the rest as it is"
      )
    }
    return lines.joined(separator: "\n")
  }
}
