import Glibc
import Logging
import Platform
import Postgres

extension Verb {
  static let database = Verb(
    "database",
    abstract: "Run a program of PostgreSQL's, as pg_dump or psql, that finds the service's database by its variables.",
    operands: ["PROGRAM", "[ARGUMENT]…"], options: [.data, .database, .pooling],
    example: "take5 database -- pg_dump --format custom --file take5.dump"
  ) { arguments in
    // The schema is left as it is: the database may be one that is about to be restored.
    let database = try await DatabaseAccess.open(
      arguments, connections: 1, migrating: false, log: Logger(lowest: .warning))
    var configuration = ChildProcess.Configuration(path: "/usr/bin/env", arguments: arguments.operands)
    configuration.environment = Take5.environment().merging(database.url.environment) { _, ours in ours }
    configuration.descriptors = [0, 1, 2]
    let ending: ChildProcess.Ending
    do {
      ending = try await onThread("database") { [configuration] in try ChildProcess(configuration).wait() }
    } catch {
      await database.close()
      throw CommandFailure(.io, "\(arguments.operands[0]) could not be started: \(error)")
    }
    await database.close()
    switch ending {
    case .exited(0): return .done
    case .exited(127):
      throw CommandFailure(
        .usage, "there is no program \(arguments.operands[0])",
        remedy: "install PostgreSQL's programs (Debian: apt-get install postgresql-client), or name its path")
    case .exited(let status): throw CommandFailure(.io, "\(arguments.operands[0]) ended with status \(status)")
    case .killed(let signal): throw CommandFailure(.io, "\(arguments.operands[0]) was ended by signal \(signal)")
    }
  }
}
