import FoundationEssentials
import Model
import Postgres
import Rooms

extension Subcommand {
  static let window = Subcommand(
    "window",
    abstract: "Show the schedule of the daily window and the last windows; the time of the next one is secret.",
    options: Option.storeAccess, example: "take5 window"
  ) { arguments in
    let report = try await DatabaseAccess.use(arguments) { pool in try await pool.run { try WindowReport($0) } }
    try Console.print(arguments.has(Option.json.name) ? try JSON.text(report) : report.text)
    return .success
  }

  static let windowSet = Subcommand(
    "window set",
    abstract: "Set the schedule of the daily window for all services and workers, in place of their options.",
    operands: ["SCHEDULE"], options: Option.storeAccess,
    example: "take5 window set 'mon-fri 5m in 09:00-21:00 Europe/Berlin'"
  ) { arguments in
    let report = try await DatabaseAccess.use(arguments) { pool in
      try await pool.transaction { session in
        try Window.set(try schedule(arguments.operands[0], session), session)
        return try WindowReport(session)
      }
    }
    try Console.print(arguments.has(Option.json.name) ? try JSON.text(report) : report.line)
    return .success
  }

  static let windowClear = Subcommand(
    "window clear",
    abstract: "Remove the schedule that was set; the options of services and workers apply again.",
    options: Option.storeAccess, example: "take5 window clear"
  ) { arguments in
    let report = try await DatabaseAccess.use(arguments) { pool in
      try await pool.transaction { session in
        try Window.set(nil, session)
        return try WindowReport(session)
      }
    }
    try Console.print(arguments.has(Option.json.name) ? try JSON.text(report) : report.line)
    return .success
  }

  static let windowPreview = Subcommand(
    "window preview",
    abstract: "Show the effect of a schedule, or of the present one, in the next days; change nothing.",
    operands: ["[SCHEDULE]"], options: Option.storeAccess,
    example: "take5 window preview '5m in 09:00-21:00 Europe/Berlin'"
  ) { arguments in
    let hours = try await DatabaseAccess.use(arguments) { pool in
      try await pool.run { session -> [WindowHours] in
        guard let text = try arguments.operands.first ?? WindowReport(session).schedule else { return [] }
        return try Window.preview(try schedule(text, session), session)
      }
    }
    for hours in hours {
      try Console.print(arguments.has(Option.json.name) ? try JSON.text(hours) : hours.line)
    }
    if hours.isEmpty, !arguments.has(Option.json.name) { try Console.print("no schedule") }
    return .success
  }

  private static func schedule(_ text: String, _ session: Session) throws -> WindowSchedule {
    do { return try Window.schedule(text, session) } catch let error as InvalidSchedule {
      throw CommandFailure(
        .usage, "'\(text)': \(error.reason)", remedy: "'take5 window preview SCHEDULE' prints what a schedule does")
    }
  }
}

/// The schedule of the daily window and the last windows.
private struct WindowReport: Encodable {
  private static let count = 7

  struct Opened: Encodable {
    let open: Bool
    let openedAt: Date
    let closesAt: Date
  }

  let schedule: String?
  let source: WindowScheduleSource?
  let windows: [Opened]

  init(_ session: Session) throws {
    let stored = try Window.scheduled(session).flatMap { $0.isInUse ? $0 : nil }
    (schedule, source) = (stored?.schedule, stored?.source)
    windows = try Window.latest(Self.count, session).map {
      Opened(open: $0.isOpen, openedAt: $0.openedAt, closesAt: $0.closesAt)
    }
  }

  var line: String {
    switch source {
    case .operator: "the window opens by the schedule '\(schedule ?? "")', which was set"
    case .option: "the window opens by the option --window '\(schedule ?? "")' of a process"
    case nil: "the window has no schedule"
    }
  }

  var text: String {
    ([line]
      + windows.map { window in
        "\(JSON.text(of: window.openedAt)) to \(JSON.text(of: window.closesAt))\(window.open ? ", open" : "")"
      }).joined(separator: "\n")
  }
}

extension WindowHours {
  fileprivate var line: String {
    let length = CountText.text(seconds, "second")
    guard let perMinute else { return "\(localFrom), \(JSON.text(of: from)): for \(length)" }
    let percent = "\((perMinute * 10_000).rounded() / 100) %"
    return
      "\(localFrom) to \(localUntil), \(JSON.text(of: from)) to \(JSON.text(of: until)): once for \(length), in each minute with \(percent)"
  }
}
