import FoundationEssentials
import Model
import Postgres
import Queue

extension Subcommand {
  static let jobsList = Subcommand(
    "jobs list", abstract: "List jobs, newest first.", operands: ["[JOB]…"],
    options: Option.jobFilter(limit: .jobListLimit) + Option.storeAccess, example: "take5 jobs list --state dead"
  ) { arguments in
    let filter = try JobFilter(arguments, limit: try arguments.number("--limit") ?? 20)
    let jobs = try await DatabaseAccess.use(arguments) { pool in
      try await pool.run { session in try JobQueue.list(filter, session) }
    }
    if arguments.has("--json") {
      for job in jobs { try Console.print(try JSON.text(JobReport(job))) }
    } else if jobs.isEmpty {
      try Console.print("no jobs found")
    } else {
      for line in JobReport.lines(jobs.map(JobReport.init)) { try Console.print(line) }
    }
    return .success
  }

  static let jobsShow = Subcommand(
    "jobs show", abstract: "Show a job with its times, attempts, verdict and decisions.",
    operands: ["JOB"], options: Option.storeAccess, example: "take5 jobs show 0199f0c2-8a1e-7c3d-9b5a-2f6d8e1c4a70"
  ) { arguments in
    let id = try JobFilter.id(arguments.operands[0])
    let job = try await DatabaseAccess.use(arguments) { pool in
      try await pool.run { session in try JobQueue.find(id, session) }
    }
    guard let job else { throw jobNotFound(id) }
    let report = JobReport(job)
    try Console.print(arguments.has("--json") ? try JSON.text(report) : report.text)
    return .success
  }

  static func jobNotFound(_ id: PublicID) -> CommandFailure {
    CommandFailure(.inputMissing, "job \(id) not found", remedy: "'take5 jobs list' lists the jobs")
  }

  static let jobsStats = Subcommand(
    "jobs stats", abstract: "Show the state of the queue: depths, finished jobs, workers, and what holds back vacuum.",
    options: Option.storeAccess, example: "take5 jobs stats"
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
    return .success
  }
}

extension JobFilter {
  /// Reads the options and operands that select jobs.
  init(_ arguments: Arguments, limit: Int = 20) throws(CommandFailure) {
    self.init(limit: limit)
    states = try arguments.choices("--state", of: JobState.self)
    queue = arguments.value("--queue")
    kind = arguments.value("--kind")
    author = arguments.value("--author")
    error = arguments.value("--error")
    let now = Date()
    createdAfter = try arguments.time("--created-after", now: now)
    createdBefore = try arguments.time("--created-before", now: now)
    finishedAfter = try arguments.time("--finished-after", now: now)
    finishedBefore = try arguments.time("--finished-before", now: now)
    if let text = arguments.value("--before") { before = try Self.id(text) }
    for text in arguments.operands { ids.append(try Self.id(text)) }
  }

  /// Whether the filter has no condition but ids and a limit.
  var namesOnlyIDs: Bool { self == JobFilter(ids: ids, limit: limit) }

  /// Parses the id of a job; status 64 if it is not valid.
  static func id(_ text: String) throws(CommandFailure) -> PublicID {
    guard let id = PublicID(text) else {
      throw CommandFailure(.usage, "'\(text)' is not the id of a job", remedy: "'take5 jobs list' lists the ids")
    }
    return id
  }
}
