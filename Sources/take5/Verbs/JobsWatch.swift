import Logging
import Model
import Platform
import Postgres
import Queue

extension Subcommand {
  static let jobsWatch = Subcommand(
    "jobs watch",
    abstract:
      "Show jobs as they change, until Ctrl-C; a job that is named until it is over: status 0 if it was accepted.",
    operands: ["[JOB]"],
    options: Option.jobFilter(limit: .jobListLimit) + [
      Option(
        "--interval", "SECONDS", default: "2", help: "how often to look at least, if the database does not tell")
    ] + Option.jobAccess + [.listenDatabase],
    example: "take5 jobs watch 0199f0c2-8a1e-7c3d-9b5a-2f6d8e1c4a70"
  ) { (arguments, signals: StopSignals) in
    let filter = try JobFilter(arguments, limit: try arguments.number("--limit", in: 1...1000) ?? 20)
    let interval = Duration.seconds(try arguments.seconds("--interval", in: 0.1...3600) ?? 2)
    let database = try await DatabaseAccess.open(arguments, connections: 1, log: Logger(lowest: .warning))
    do {
      let view = JobView(json: arguments.has("--json"), redraws: Console.answersPerson)
      let status = try await JobWatching(filter: filter, interval: interval, database: database, view: view)
        .run(until: signals)
      await database.close()
      return status
    } catch {
      await database.close()
      throw error
    }
  }
}
