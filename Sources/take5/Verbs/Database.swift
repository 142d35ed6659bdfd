import Glibc
import Logging
import Platform
import Postgres

extension Subcommand {
  static let database = Subcommand(
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
    let program = Program()
    let ending: ChildProcess.Ending
    do {
      ending = try await withTaskCancellationHandler {
        try await onThread("database") { [configuration] in try program.run(configuration) }
      } onCancel: {
        program.stop()
      }
    } catch {
      await database.close()
      throw CommandFailure(.io, "\(arguments.operands[0]) could not be started: \(error)")
    }
    await database.close()
    try Task.checkCancellation()
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

/// A program that works for the command, and ends with it.
private final class Program: Sendable {
  private struct State {
    var process: Int32?
    var isStopped = false
  }

  private let state = Locked(State())

  func run(_ configuration: ChildProcess.Configuration) throws(SystemError) -> ChildProcess.Ending {
    let child = try ChildProcess(configuration)
    let id = child.id
    let isStopped = state.withLock { state in
      state.process = id
      return state.isStopped
    }
    if isStopped { kill(id, SIGTERM) }
    let ending = child.wait()
    state.withLock { $0.process = nil }
    return ending
  }

  func stop() {
    state.withLock { state in
      state.isStopped = true
      if let process = state.process { kill(process, SIGTERM) }
    }
  }
}
