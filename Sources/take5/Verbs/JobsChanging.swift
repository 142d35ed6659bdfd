import Model
import Postgres
import Queue
import Store

extension Subcommand {
  static let jobsRetry = Subcommand(
    "jobs retry",
    abstract: "Try dead jobs, or ones that wait for their next attempt, at once: by their ids, or by a filter.",
    operands: ["[JOB]…"], options: Option.jobSweep, example: "take5 jobs retry --state dead --kind post --all"
  ) { arguments in
    var filter = try JobFilter(arguments)
    if filter.states.isEmpty { filter.states = [.dead] }
    guard filter.states.isSubset(of: [.dead, .scheduled]) || !filter.ids.isEmpty else {
      throw CommandFailure(
        .usage, "only dead and scheduled jobs can be tried again", remedy: "say --state dead, or --state scheduled")
    }
    return try await change(
      arguments, filter, done: "tried at once",
      why: "neither dead nor waiting for its next attempt, or its key is taken"
    ) { store in
      JobSweep { ids, session in
        try store.retry(jobs: ids, session)
      } announce: { queues, session in
        for queue in Set(queues.values).sorted() { try JobQueue.notify(queue: queue, session) }
        try JobQueue.notifyChange(of: queues.keys.sorted(), session)
      }
    } state: { _ in
      "available"
    }
  }

  static let jobsCancel = Subcommand(
    "jobs cancel",
    abstract: "Cancel jobs that are not over, by their ids or by a filter; their posts have failed then.",
    operands: ["[JOB]…"], options: Option.jobSweep,
    example: "take5 jobs cancel --state available --author ada --created-after 2h --all"
  ) { arguments in
    var filter = try JobFilter(arguments)
    let live: Set<JobState> = [.scheduled, .available, .executing]
    if filter.states.isEmpty { filter.states = live }
    guard filter.states.isSubset(of: live) else {
      throw CommandFailure(
        .usage, "only jobs that are not over can be cancelled", remedy: "say --state scheduled, available or executing")
    }
    return try await change(
      arguments, filter, done: "cancelled, or stopped by their workers", why: "not there, or over"
    ) {
      store in
      JobSweep { ids, session in
        try store.cancel(jobs: ids, session).mapValues { $0 == .cancelled ? "cancelled" : "cancelling" }
      } announce: { outcomes, session in
        try JobQueue.notifyChange(of: outcomes.keys.sorted(), session)
      }
    } state: {
      $0
    }
  }

  private static func change(
    _ arguments: Arguments, _ filter: JobFilter, done: String, why: String,
    _ sweep: @escaping @Sendable (Store) -> JobSweep, state: @escaping @Sendable (String) -> String
  ) async throws -> ExitStatus {
    let limit = try arguments.number("--limit", in: 1...Int(Int32.max))
    let isDry = arguments.has("--dry-run")
    let json = arguments.has("--json")
    if !filter.ids.isEmpty {
      guard try JobFilter(arguments).namesOnlyIDs, !arguments.has("--all"), limit == nil, !isDry else {
        throw CommandFailure(
          .usage, "jobs are named, and a filter is given too", remedy: "name jobs, or say which ones by options")
      }
      return try await DatabaseAccess.use(arguments) { pool in
        let changed = try await sweep(Store(blobs: ClosedBlobStore())).run(filter.ids, pool)
        return try report(filter.ids, changed.mapValues(state), why: why, json: json)
      }
    }
    return try await DatabaseAccess.use(arguments) { pool in
      let count = try await pool.run { session in try JobQueue.count(filter, session) }
      let most = min(count, limit ?? count)
      if isDry || count == 0 {
        try Console.print(
          json
            ? #"{"matched":\#(count),"changed":0}"#
            : count == 0 ? "no such job" : "it would be \(most) of \(count) jobs")
        return .done
      }
      guard limit != nil || arguments.has("--all") else {
        throw CommandFailure(
          .usage, "that would be \(count) jobs",
          remedy: "say --all for all of them, --limit N for the newest, or --dry-run")
      }
      Console.note("\(most) of \(count) jobs")
      let changed = try await sweep(Store(blobs: ClosedBlobStore())).run(filter, most: most, pool) {
        looked in
        if most > looked { Console.note("\(looked) of \(most)") }
      }
      try Console.print(json ? #"{"matched":\#(count),"changed":\#(changed)}"# : "\(changed) jobs are \(done)")
      return .done
    }
  }

  /// Tells of each job that was named; status 65 if it could not be done to all of them.
  private static func report(
    _ ids: [PublicID], _ states: [PublicID: String], why: String, json: Bool
  ) throws(CommandFailure) -> ExitStatus {
    for id in ids {
      if let state = states[id] {
        let text =
          switch state {
          case "available": "job \(id) is tried at once"
          case "cancelled": "job \(id) is cancelled"
          default: "job \(id) is running; its worker was told to stop it"
          }
        try Console.print(json ? #"{"id":"\#(id)","state":"\#(state)"}"# : text)
      } else {
        Console.note("take5: job \(id): \(why)")
        Console.note("       'take5 jobs show \(id)' tells where it stands")
      }
    }
    return ids.allSatisfy { states[$0] != nil } ? .done : .rejected
  }
}
