import FoundationEssentials
import Model
import Postgres
import Queue
import Store

extension Subcommand {
  static let cronList = Subcommand(
    "cron list", abstract: "List the cron schedules, each with its next three times.", options: Option.storeAccess,
    example: "take5 cron list"
  ) { arguments in
    let records = try await records(arguments)
    for record in records { try show(record, arguments) }
    if records.isEmpty, !arguments.has("--json") { try Console.print("no cron schedules") }
    return .success
  }

  static let cronSet = Subcommand(
    "cron set", abstract: "Create a cron schedule, or change the one with this name.", operands: ["NAME"],
    options: [
      Option(
        "--schedule", "FIELDS",
        help: "five fields as in crontab(5): minute, hour, day of month, month, day of week; or @daily"),
      Option("--zone", "ZONE", default: "UTC", help: "time zone of the schedule: a name of the IANA database"),
      Option(
        "--kind", "KIND", .choice(JobKinds.scheduled.map { $0.kind }),
        help: "kind of the job: " + kinds { "\($0.kind) \($0.abstract)" }),
      Option(
        "--arguments", "JSON", default: "{}",
        help: "arguments of the job; " + kinds { "\($0.kind): \($0.example)" }),
    ] + Option.storeAccess,
    example: "take5 cron set daily --schedule '0 18 * * *' --zone Europe/Berlin --kind window"
  ) { arguments in
    let entry = try entry(arguments)
    do {
      try await DatabaseAccess.use(arguments) { pool in try await pool.run { try JobQueue.set(cron: entry, $0) } }
    } catch CronError.schedule(let error) {
      throw CommandFailure(
        .usage, "--schedule: \(error)", remedy: "write five fields, such as '30 18 * * mon-fri', or @daily")
    } catch CronError.zone(let zone) {
      throw CommandFailure(.usage, "--zone: unknown time zone '\(zone)'", remedy: "use a name such as Europe/Berlin")
    }
    for record in try await records(arguments) where record.entry.name == entry.name { try show(record, arguments) }
    return .success
  }

  static let cronRemove = Subcommand(
    "cron remove", abstract: "Remove a cron schedule.", operands: ["NAME"], options: Option.storeAccess,
    example: "take5 cron remove daily"
  ) { arguments in
    try await change(arguments, to: "removed") { name, session in try JobQueue.remove(cron: name, session) }
  }

  static let cronPause = Subcommand(
    "cron pause", abstract: "Pause a cron schedule until it is resumed.", operands: ["NAME"],
    options: Option.storeAccess,
    example: "take5 cron pause daily"
  ) { arguments in
    try await change(arguments, to: "paused") { name, session in try JobQueue.pause(cron: name, session) }
  }

  static let cronResume = Subcommand(
    "cron resume", abstract: "Resume a paused cron schedule from its next time.", operands: ["NAME"],
    options: Option.storeAccess, example: "take5 cron resume daily"
  ) { arguments in
    try await change(arguments, to: "resumed") { name, session in try JobQueue.resume(cron: name, session) }
  }

  static let cronRun = Subcommand(
    "cron run", abstract: "Enqueue the job of a cron schedule now; its times do not change.", operands: ["NAME"],
    options: Option.storeAccess, example: "take5 cron run daily"
  ) { arguments in
    let name = arguments.operands[0]
    let firing = try await DatabaseAccess.use(arguments) { pool in
      try await pool.transaction { session in try JobQueue.run(cron: name, session) }
    }
    guard let firing else { throw scheduleNotFound(name) }
    try Console.print(
      arguments.has("--json") ? "{\"job\":\"\(firing.job)\"}" : "\(name) is enqueued as job \(firing.job)")
    return .success
  }

  private static func entry(_ arguments: Arguments) throws(CommandFailure) -> CronEntry {
    guard let schedule = arguments.value("--schedule") else {
      throw CommandFailure(.usage, "--schedule is missing", remedy: "add a schedule such as --schedule '0 18 * * *'")
    }
    let kinds = JobKinds.scheduled.map { $0.kind }
    guard let value = try arguments.checked("--kind"),
      let kind = JobKinds.scheduled.first(where: { $0.kind == value })
    else { throw CommandFailure(.usage, "--kind is missing", remedy: "use one of \(kinds.joined(separator: ", "))") }
    let text = Array((arguments.value("--arguments") ?? "{}").utf8)
    do { _ = try JSON.decode(kind, from: text) } catch {
      throw CommandFailure(
        .usage, "--arguments are not valid for a \(kind.kind): \(JSON.reason(error))", remedy: kind.remedy)
    }
    let name = arguments.operands[0]
    guard 1...200 ~= name.utf8.count else {
      throw CommandFailure(.usage, "the name '\(name)' is empty or too long", remedy: "use a name of 1 to 200 bytes")
    }
    return CronEntry(
      name: name, schedule: schedule, zone: arguments.value("--zone") ?? "UTC", queue: JobKinds.taskQueue,
      kind: kind.kind, arguments: text)
  }

  /// Lists the kinds of jobs that a schedule can enqueue.
  private static func kinds(_ text: (any ScheduledJob.Type) -> String) -> String {
    JobKinds.scheduled.map(text).joined(separator: "; ")
  }

  private static func records(_ arguments: Arguments) async throws -> [CronRecord] {
    try await DatabaseAccess.use(arguments) { pool in try await pool.run { try JobQueue.cron($0) } }
  }

  private static func show(_ record: CronRecord, _ arguments: Arguments) throws {
    let report = CronReport(record)
    try Console.print(arguments.has("--json") ? try JSON.text(report) : report.line)
  }

  private static func change(
    _ arguments: Arguments, to state: String, _ body: @escaping @Sendable (String, Session) throws -> Bool
  ) async throws -> ExitStatus {
    let name = arguments.operands[0]
    let isFound = try await DatabaseAccess.use(arguments) { pool in try await pool.run { try body(name, $0) } }
    guard isFound else { throw scheduleNotFound(name) }
    let json = try JSON.text(["name": name, "state": state])
    try Console.print(arguments.has("--json") ? json : "\(name) is \(state)")
    return .success
  }

  private static func scheduleNotFound(_ name: String) -> CommandFailure {
    CommandFailure(.inputMissing, "cron schedule '\(name)' not found", remedy: "'take5 cron list' lists the schedules")
  }
}

/// A cron schedule in the output of `take5 cron`.
private struct CronReport: Encodable {
  let name: String
  let schedule: String
  let zone: String
  let kind: String
  let arguments: [String: Int]?
  let paused: Bool
  let lastAt: Date?
  let next: [Date]

  init(_ record: CronRecord) {
    name = record.entry.name
    schedule = record.entry.schedule
    zone = record.entry.zone
    kind = record.entry.kind
    arguments = try? JSON.decode([String: Int].self, from: record.entry.arguments)
    paused = record.isPaused
    lastAt = record.lastAt
    next = record.next
  }

  /// The schedule as one line of text.
  var line: String {
    let times = paused ? "paused" : "next \(next.map(JSON.text(of:)).joined(separator: " "))"
    return "\(name)  \(schedule)  \(zone)  \(kind)  \(times)"
  }
}
