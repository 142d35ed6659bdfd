import EmbeddedPostgres
import Model
import Platform
import Rooms

extension Subcommand {
  static let databaseUpgrade = Subcommand(
    "database upgrade",
    abstract: "Copy the embedded database into a cluster of another major version of PostgreSQL, newer or older.",
    options: [
      Option(
        "--to", "VERSION", .integer(13...99),
        help: "major version, newer or older; default: the newest installed"),
      .data, .database, .database.file, .json,
    ],
    example: "take5 database upgrade --to 17"
  ) { arguments in
    guard try arguments.secret(.database) == nil else {
      throw CommandFailure(
        .usage, "only the embedded database is upgraded by take5",
        remedy: "upgrade the PostgreSQL of --database with its own programs, such as pg_upgrade")
    }
    let folder = arguments.value(Option.data.name) ?? ".take5"
    if let denial = StoreOwner.denial(of: folder) { throw denial }
    var configuration = EmbeddedPostgres.Configuration(dataFolder: folder)
    let bar = ProgressBar("copying")
    configuration.report = { bar.note("take5: \($0)") }
    let version = try arguments.number("--to")
    let cancellation = CancellationFlag()
    let report: Upgrade.Report
    do {
      defer { bar.clear() }
      report = try await withTaskCancellationHandler {
        try await onThread("database-upgrade") { [configuration] in
          try Upgrade.run(
            configuration, to: version, finish: Events.continueHistory, progress: { bar.show($0) },
            cancellation: cancellation)
        }
      } onCancel: {
        cancellation.cancel()
      }
    } catch  where Task.isCancelled {
      throw CommandFailure.interrupted
    } catch let error as EmbeddedPostgresError where error.isMissing {
      throw DatabaseAccess.storeNotFound(in: folder)
    }
    let result = UpgradeResult(report)
    try Console.print(arguments.has("--json") ? try JSON.text(result) : result.text)
    return .success
  }
}

/// The result that `take5 database upgrade` prints.
private struct UpgradeResult: Encodable {
  let from: Int
  let to: Int
  let tables: Int
  let rows: Int
  /// The folder of the former cluster; nil if the database already had the version.
  let former: String?

  init(_ report: Upgrade.Report) {
    from = report.from
    to = report.to
    tables = report.tables
    rows = report.rows
    former = report.former
  }

  var text: String {
    guard let former else { return "the database already has version \(to)" }
    return """
      copied \(tables) tables with \(rows) rows from PostgreSQL \(from) to \(to)
      the way back is 'take5 database upgrade --to \(from)'; the former cluster, which take5 no longer reads, is \(former)
      """
  }
}
