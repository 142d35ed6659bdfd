import Model
import Postgres
import Queue
import Store

extension Subcommand {
  private static let access: [Option] = [.data, .database, .pooling, .json]

  static let cronList = Subcommand(
    "cron list", abstract: "List what is done by the calendar, each with its next three times.", options: access,
    example: "take5 cron list"
  ) { arguments in
    let records = try await records(arguments)
    for record in records { try show(record, arguments) }
    if records.isEmpty, !arguments.has("--json") { try Console.print("no entry yet") }
    return .done
  }

  static let cronSet = Subcommand(
    "cron set", abstract: "Add an entry of the calendar, or change the one of its name.", operands: ["NAME"],
    options: [
      Option(
        "--schedule", "FIELDS",
        help: "minute, hour, day of month, month, day of week, as crontab(5) has them, or @daily"),
      Option("--zone", "ZONE", default: "UTC", help: "by whose clock: a name of the IANA database"),
      Option("--kind", "KIND", help: "what is done: window opens the daily window"),
      Option("--arguments", "JSON", default: "{}", help: "of a window: {\"seconds\": 300}, how long it is open"),
    ] + access,
    example: "take5 cron set daily --schedule '0 18 * * *' --zone Europe/Berlin --kind window"
  ) { arguments in
    let entry = try entry(arguments)
    do {
      try await DatabaseAccess.use(arguments) { pool in try await pool.run { try JobQueue.set(cron: entry, $0) } }
    } catch CronError.schedule(let error) {
      throw CommandFailure(
        .usage, "--schedule: \(error)", remedy: "write it as five fields, such as '30 18 * * mon-fri', or as @daily")
    } catch CronError.zone(let zone) {
      throw CommandFailure(.usage, "--zone: there is no time zone '\(zone)'", remedy: "name one such as Europe/Berlin")
    }
    for record in try await records(arguments) where record.entry.name == entry.name { try show(record, arguments) }
    return .done
  }

  static let cronRemove = Subcommand(
    "cron remove", abstract: "Remove an entry of the calendar.", operands: ["NAME"], options: access,
    example: "take5 cron remove daily"
  ) { arguments in
    try await change(arguments, to: "removed") { name, session in try JobQueue.remove(cron: name, session) }
  }

  static let cronPause = Subcommand(
    "cron pause", abstract: "Let an entry of the calendar rest until it is resumed.", operands: ["NAME"],
    options: access,
    example: "take5 cron pause daily"
  ) { arguments in
    try await change(arguments, to: "paused") { name, session in try JobQueue.pause(cron: name, session) }
  }

  static let cronResume = Subcommand(
    "cron resume", abstract: "Let a paused entry of the calendar go on, from its next time on.", operands: ["NAME"],
    options: access, example: "take5 cron resume daily"
  ) { arguments in
    try await change(arguments, to: "resumed") { name, session in try JobQueue.resume(cron: name, session) }
  }

  static let cronRun = Subcommand(
    "cron run", abstract: "Do now what an entry of the calendar does; its times stay.", operands: ["NAME"],
    options: access, example: "take5 cron run daily"
  ) { arguments in
    let name = arguments.operands[0]
    let firing = try await DatabaseAccess.use(arguments) { pool in
      try await pool.transaction { session in try JobQueue.run(cron: name, session) }
    }
    guard let firing else { throw noEntry(name) }
    try Console.print(
      arguments.has("--json") ? "{\"job\":\"\(firing.job)\"}" : "\(name) is done now, by job \(firing.job)")
    return .done
  }

  private static func entry(_ arguments: Arguments) throws(CommandFailure) -> CronEntry {
    guard let schedule = arguments.value("--schedule") else {
      throw CommandFailure(.usage, "--schedule is missing", remedy: "such as --schedule '0 18 * * *'")
    }
    guard let kind = try arguments.choice("--kind", of: TaskKind.self) else {
      let kinds = TaskKind.allCases.map(\.rawValue).joined(separator: ", ")
      throw CommandFailure(.usage, "--kind is missing", remedy: "name one of \(kinds)")
    }
    let text = Array((arguments.value("--arguments") ?? "{}").utf8)
    switch kind {
    case .window:
      do { _ = try JSON.decode(WindowJob.self, from: text) } catch {
        throw CommandFailure(
          .usage, "--arguments: a window has no such arguments: \(JSON.reason(error))",
          remedy: "write {\"seconds\": N}, N from 1 to 86400")
      }
    }
    let name = arguments.operands[0]
    guard 1...200 ~= name.utf8.count else { throw CommandFailure(.usage, "a name has 1 to 200 characters") }
    return CronEntry(
      name: name, schedule: schedule, zone: arguments.value("--zone") ?? "UTC", queue: TaskKind.queue,
      kind: kind.rawValue, arguments: text)
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
    let isThere = try await DatabaseAccess.use(arguments) { pool in try await pool.run { try body(name, $0) } }
    guard isThere else { throw noEntry(name) }
    let answer = try JSON.text(["name": name, "state": state])
    try Console.print(arguments.has("--json") ? answer : "\(name) is \(state)")
    return .done
  }

  private static func noEntry(_ name: String) -> CommandFailure {
    CommandFailure(.inputMissing, "there is no entry '\(name)'", remedy: "'take5 cron list' shows what there is")
  }
}
