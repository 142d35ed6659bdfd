import Model
import Postgres
import Queue

extension Subcommand {
  static let jobsStats = Subcommand(
    "jobs stats", abstract: "Tell how the queue stands: what waits, what was done, who works, what holds back vacuum.",
    options: Option.jobAccess, example: "take5 jobs stats"
  ) { arguments in
    let report = try await DatabaseAccess.use(arguments) { pool in
      try await pool.transaction { session in
        QueueReport(
          depths: try JobQueue.depths(session), hour: try JobQueue.finished(withinSeconds: 3600, session),
          day: try JobQueue.finished(withinSeconds: 86_400, session), workers: try JobQueue.workers(session),
          health: try JobQueue.health(session))
      }
    }
    try Console.print(arguments.has("--json") ? try JSON.text(report) : report.text)
    return .done
  }
}
