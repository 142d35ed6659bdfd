import EmbeddedPostgres
import Model
import Platform

extension Subcommand {
  static let databaseChecksums = Subcommand(
    "database checksums",
    abstract:
      "Turn on data checksums in the embedded database, so that the server notices pages that the disk has changed.",
    options: [.data, .database, .database.file, .json],
    example: "take5 database checksums"
  ) { arguments in
    guard try arguments.secret(.database) == nil else {
      throw CommandFailure(
        .usage, "only the embedded database gets data checksums from take5",
        remedy: "stop the PostgreSQL of --database and run its pg_checksums --enable")
    }
    let folder = arguments.value(Option.data.name) ?? ".take5"
    if let denial = StoreOwner.denial(of: folder) { throw denial }
    var configuration = EmbeddedPostgres.Configuration(dataFolder: folder)
    configuration.report = { Console.note("take5: \($0)") }
    let isNew: Bool
    do {
      isNew = try await onThread("checksums") { [configuration] in try Checksums.enable(configuration) }
    } catch let error as EmbeddedPostgresError where error.isMissing {
      throw DatabaseAccess.storeNotFound(in: folder)
    }
    try Console.print(
      arguments.has("--json")
        ? try JSON.text(["enabled": isNew])
        : isNew ? "the database has data checksums now" : "the database already has data checksums")
    return .success
  }
}
