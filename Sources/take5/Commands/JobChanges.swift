import Model
import Postgres
import Queue
import Rooms

extension Subcommand {
  static let jobsRetry = Subcommand(
    "jobs retry",
    abstract: "Retry dead jobs, or jobs that wait for their next attempt, now; by id or by filter.",
    operands: ["[JOB]…"], options: Option.jobChanges, example: "take5 jobs retry --state dead --kind post --all"
  ) { arguments in
    var filter = try JobFilter(arguments)
    if filter.states.isEmpty { filter.states = BatchChange.retry.standard }
    guard filter.states.isSubset(of: BatchChange.retry.states) || !filter.ids.isEmpty else {
      throw CommandFailure(
        .usage, "only dead and scheduled jobs can be retried", remedy: "use --state dead or --state scheduled")
    }
    return try await change(
      arguments, filter, done: "available again",
      reason: "neither dead nor scheduled, or another job has its unique key", .retry
    ) { _ in
      "available"
    }
  }

  static let jobsCancel = Subcommand(
    "jobs cancel",
    abstract: "Cancel unfinished jobs, by id or by filter; their posts become failed.",
    operands: ["[JOB]…"], options: Option.jobChanges,
    example: "take5 jobs cancel --state available --author ada --created-after 2h --all"
  ) { arguments in
    var filter = try JobFilter(arguments)
    if filter.states.isEmpty { filter.states = BatchChange.cancel.standard }
    guard filter.states.isSubset(of: BatchChange.cancel.states) else {
      throw CommandFailure(
        .usage, "only unfinished jobs can be cancelled", remedy: "use --state scheduled, available or executing")
    }
    return try await change(
      arguments, filter, done: "cancelled, or being stopped by a worker",
      reason: "not found, or already finished", .cancel
    ) {
      $0
    }
  }

  private static func change(
    _ arguments: Arguments, _ filter: JobFilter, done: String, reason: String,
    _ change: BatchChange, state: @escaping @Sendable (String) -> String
  ) async throws -> ExitStatus {
    let limit = try arguments.number("--limit")
    let isDryRun = arguments.has("--dry-run")
    let json = arguments.has("--json")
    if !filter.ids.isEmpty {
      guard try JobFilter(arguments).namesOnlyIDs, !arguments.has("--all"), limit == nil, !isDryRun else {
        throw CommandFailure(
          .usage, "job ids cannot be combined with a filter", remedy: "pass either ids or filter options")
      }
      return try await DatabaseAccess.use(arguments) { pool in
        let changed = try await change.run(filter.ids, pool)
        return try report(filter.ids, changed.mapValues(state), reason: reason, json: json)
      }
    }
    return try await DatabaseAccess.use(arguments) { pool in
      let count = try await pool.run { session in try JobQueue.count(filter, session) }
      let selected = min(count, limit ?? count)
      if isDryRun || count == 0 {
        try Console.print(
          json
            ? #"{"matched":\#(count),"changed":0}"#
            : count == 0 ? "no jobs found" : "would change \(selected) of \(CountText.text(count, "job"))")
        return .success
      }
      guard limit != nil || arguments.has("--all") else {
        throw CommandFailure(
          .usage, "the filter selects \(CountText.text(count, "job"))",
          remedy: "use --all to change all of them, --limit N for the newest, or --dry-run")
      }
      Console.note("\(selected) of \(CountText.text(count, "job"))")
      let changed = try await change.run(filter, max: selected, pool) { processed in
        if selected > processed { Console.note("\(processed) of \(selected)") }
      }
      try Console.print(
        json
          ? #"{"matched":\#(count),"changed":\#(changed)}"#
          : "\(CountText.text(changed, "job")) \(changed == 1 ? "is" : "are") \(done)")
      return .success
    }
  }

  /// Prints the result for each job; status 65 if some could not be changed.
  private static func report(
    _ ids: [PublicID], _ states: [PublicID: String], reason: String, json: Bool
  ) throws(CommandFailure) -> ExitStatus {
    for id in ids {
      if let state = states[id] {
        let text =
          switch state {
          case "available": "job \(id) is available again"
          case "cancelled": "job \(id) is cancelled"
          default: "job \(id) is executing; its worker was notified to stop it"
          }
        try Console.print(json ? #"{"id":"\#(id)","state":"\#(state)"}"# : text)
      } else {
        Console.note("take5: job \(id): \(reason)")
        Console.note("       'take5 jobs show \(id)' shows its state")
      }
    }
    return ids.allSatisfy { states[$0] != nil } ? .success : .rejected
  }
}
