import Blobs
import Glibc
import Model
import Platform
import Postgres
import Telemetry

extension Subcommand {
  static let `init` = Subcommand(
    "init", abstract: "Create a store: a database, its schema and a folder of blobs; an existing store is not changed.",
    options: [
      Option("--empty", help: "create only the database, without schema and blobs, to restore a backup into it")
    ] + Option.storeAccess,
    example: "take5 init --data .take5"
  ) { arguments in
    let isEmpty = arguments.has("--empty")
    let database = try await DatabaseAccess.open(
      arguments, connections: 1, schema: isEmpty ? .any : .migrating, isCreating: true, log: Logger(lowest: .warning))
    if !isEmpty { _ = try await BlobOptions.open(arguments, database, isCreating: true) }
    await database.close()
    let data = arguments.value(Option.data.name) ?? ""
    if arguments.has("--json") {
      try Console.print(try JSON.text(InitResult(data: data, isNew: database.isNew)))
    } else if isEmpty {
      try Console.print("created an empty database for the store in \(data)")
    } else {
      try Console.print(database.isNew ? "created a store in \(data)" : "a store already exists in \(data)")
    }
    return .success
  }

  static let migrate = Subcommand(
    "migrate",
    abstract: "Migrate the schema of a store to this version, as init and the start of a service or a worker do.",
    options: Option.store + Option.logging,
    example: "take5 migrate --database postgresql://localhost/take5"
  ) { arguments in
    let database = try await DatabaseAccess.open(
      arguments, connections: 1, schema: .migrating, log: try Logger(arguments))
    await database.close()
    try Console.print(
      database.newerSchema.map { "the schema has version \($0), which is newer than this program; nothing was changed" }
        ?? "the schema is up to date")
    return .success
  }

  static let database = Subcommand(
    "database",
    abstract: "Run a PostgreSQL program, such as pg_dump or psql, that connects to the database of the store.",
    operands: ["PROGRAM", "[ARGUMENT]…"], options: Option.store,
    example: "take5 database -- pg_dump --format custom --file take5.dump"
  ) { arguments in
    // The schema is not migrated: the database may be empty, for a backup that is to be restored.
    let database = try await DatabaseAccess.open(
      arguments, connections: 1, schema: .any, log: Logger(lowest: .warning))
    var configuration = ChildProcess.Configuration(path: "/usr/bin/env", arguments: arguments.operands)
    configuration.environment = Environment.variables().merging(database.url.environment) { _, ours in ours }
    configuration.descriptors = [0, 1, 2]
    let ending: ChildProcess.Ending
    do {
      ending = try await ProgramGroup.run { [configuration] programs in try programs.run(configuration) }
    } catch {
      await database.close()
      throw CommandFailure(.io, "\(arguments.operands[0]) could not be started: \(error)")
    }
    await database.close()
    try Task.checkCancellation()
    switch ending {
    case .exited(0): return .success
    case .exited(127):
      throw CommandFailure(
        .usage, "program \(arguments.operands[0]) not found",
        remedy: "install the PostgreSQL client programs (Debian: apt-get install postgresql-client), or pass the path")
    case let ending: throw CommandFailure(.io, "\(arguments.operands[0]) \(ending.reason)")
    }
  }
}

/// The result that `take5 init --json` prints.
private struct InitResult: Encodable {
  let data: String
  let isNew: Bool

  private enum CodingKeys: String, CodingKey {
    case data
    case isNew = "new"
  }
}
