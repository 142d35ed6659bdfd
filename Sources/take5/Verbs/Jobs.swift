import Model
import Postgres
import Queue

extension Subcommand {
  static let jobsList = Subcommand(
    "jobs list", abstract: "List jobs, the newest first.", operands: ["[JOB]…"],
    options: Option.jobFilter(limit: .jobListLimit) + Option.jobAccess, example: "take5 jobs list --state dead"
  ) { arguments in
    let filter = try JobFilter(arguments, limit: try arguments.number("--limit", in: 1...1000) ?? 20)
    let jobs = try await DatabaseAccess.use(arguments) { pool in
      try await pool.run { session in try JobQueue.list(filter, session) }
    }
    if arguments.has("--json") {
      for job in jobs { try Console.print(try JSON.text(JobReport(job))) }
    } else if jobs.isEmpty {
      try Console.print("no such job")
    } else {
      for line in JobReport.lines(jobs.map(JobReport.init)) { try Console.print(line) }
    }
    return .done
  }

  static let jobsShow = Subcommand(
    "jobs show", abstract: "Show a job with its times, its attempts, its verdict and what was decided.",
    operands: ["JOB"], options: Option.jobAccess, example: "take5 jobs show 0199f0c2-8a1e-7c3d-9b5a-2f6d8e1c4a70"
  ) { arguments in
    let id = try JobFilter.id(arguments.operands[0])
    let job = try await DatabaseAccess.use(arguments) { pool in
      try await pool.run { session in try JobQueue.find(id, session) }
    }
    guard let job else { throw noJob(id) }
    let report = JobReport(job)
    try Console.print(arguments.has("--json") ? try JSON.text(report) : report.text)
    return .done
  }

  static func noJob(_ id: PublicID) -> CommandFailure {
    CommandFailure(.inputMissing, "there is no job \(id)", remedy: "'take5 jobs list' shows what there is")
  }
}
