import Model
import Postgres
import Queue
import Store

extension Verb {
  private static let access: [Option] = [.data, .database, .pooling, .json]

  static let jobsList = Verb(
    "jobs list", abstract: "List jobs, the newest first.",
    options: [
      Option("--state", "STATE", help: "scheduled, available, executing, completed, cancelled or dead"),
      Option("--kind", "KIND", help: "post"), Option("--author", "NAME", help: "whose jobs"),
      Option("--before", "JOB", help: "only jobs older than this one, the last of the list before"),
      Option("--limit", "N", default: "20", help: "how many at most"),
    ] + access,
    example: "take5 jobs list --state dead"
  ) { arguments in
    var filter = JobFilter(kind: arguments.value("--kind"), author: arguments.value("--author"))
    filter.state = try arguments.choice("--state", of: JobState.self)
    filter.before = try arguments.value("--before").map(jobID(_:))
    filter.limit = try arguments.number("--limit", in: 1...1000) ?? 20
    let jobs = try await DatabaseAccess.use(arguments) { [filter] pool in
      try await pool.run { session in try JobQueue.list(filter, session) }
    }
    if arguments.has("--json") {
      for job in jobs { Console.print(try JSON.text(JobReport(job))) }
    } else if jobs.isEmpty {
      Console.print("no such job")
    } else {
      for job in jobs { Console.print(JobReport(job).line) }
    }
    return .done
  }

  static let jobsShow = Verb(
    "jobs show", abstract: "Show a job with its verdict and what was decided.", operands: ["JOB"], options: access,
    example: "take5 jobs show 0199f0c2-8a1e-7c3d-9b5a-2f6d8e1c4a70"
  ) { arguments in
    let id = try jobID(arguments)
    let job = try await DatabaseAccess.use(arguments) { pool in
      try await pool.run { session in try JobQueue.find(id, session) }
    }
    guard let job else { throw noJob(id) }
    let report = JobReport(job)
    Console.print(arguments.has("--json") ? try JSON.text(report) : report.text)
    return .done
  }

  static let jobsRetry = Verb(
    "jobs retry", abstract: "Try a dead job, or one that waits for its next attempt, at once.", operands: ["JOB"],
    options: access, example: "take5 jobs retry 0199f0c2-8a1e-7c3d-9b5a-2f6d8e1c4a70"
  ) { arguments in
    let id = try jobID(arguments)
    let retried = try await DatabaseAccess.use(arguments) { pool in
      let store = Store(blobs: try BlobFolder.open(arguments))
      let retried = try await pool.transaction { session in try store.retry(job: id, session) }
      if retried { try await pool.run { session in try JobQueue.announce(queue: PostJob.queue, session) } }
      return retried
    }
    guard retried else { throw notLive(id, "it is neither dead nor waiting for its next attempt") }
    Console.print(arguments.has("--json") ? "{\"id\":\"\(id)\",\"state\":\"available\"}" : "job \(id) is tried at once")
    return .done
  }

  static let jobsCancel = Verb(
    "jobs cancel", abstract: "Cancel a job that is not over; its post has failed then.", operands: ["JOB"],
    options: access, example: "take5 jobs cancel 0199f0c2-8a1e-7c3d-9b5a-2f6d8e1c4a70"
  ) { arguments in
    let id = try jobID(arguments)
    let outcome = try await DatabaseAccess.use(arguments) { pool in
      let store = Store(blobs: try BlobFolder.open(arguments))
      let outcome = try await pool.transaction { session in try store.cancel(job: id, session) }
      try await pool.run { session in try JobQueue.tell(of: id, session) }
      return outcome
    }
    guard outcome != .notLive else { throw notLive(id, "there is no such job, or it is over") }
    let state = outcome == .cancelled ? "cancelled" : "cancelling"
    Console.print(
      arguments.has("--json")
        ? "{\"id\":\"\(id)\",\"state\":\"\(state)\"}"
        : outcome == .cancelled ? "job \(id) is cancelled" : "job \(id) is running; its worker was told to stop it")
    return .done
  }

  private static func jobID(_ arguments: Arguments) throws(CommandFailure) -> PublicID {
    try jobID(arguments.operands[0])
  }

  private static func jobID(_ text: String) throws(CommandFailure) -> PublicID {
    guard let id = PublicID(text) else {
      throw CommandFailure(.usage, "'\(text)' is no job's id", remedy: "'take5 jobs list' shows the ids")
    }
    return id
  }

  private static func noJob(_ id: PublicID) -> CommandFailure {
    CommandFailure(.inputMissing, "there is no job \(id)", remedy: "'take5 jobs list' shows what there is")
  }

  private static func notLive(_ id: PublicID, _ why: String) -> CommandFailure {
    CommandFailure(.rejected, "job \(id): \(why)", remedy: "'take5 jobs show \(id)' tells where it stands")
  }
}
