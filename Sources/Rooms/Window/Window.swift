package import FoundationEssentials
package import Model
package import Postgres
package import Queue
internal import Store
package import Telemetry

/// The daily window, which workers open by a schedule.
package enum Window: Room {
  package static let statements = Statements(topic: "window", PackageResources.Window_sql)

  package static let migrations = [
    Migration(version: 149, name: "window_schedule", PackageResources.v0149_window_schedule_sql)
  ]

  /// The channel of the notification that a window has opened; the payload is JSON with its times.
  package static let channel = "take5_windows"

  /// Reads the latest window, open or closed; nil if there was none yet.
  package static func latest(_ session: Session) throws(PostgresError) -> DailyWindow? {
    guard let row = try session.execute(Self.statements["window"]).first else { return nil }
    return DailyWindow(
      openedAt: Date(microseconds: try row.get("opened_at")), closesAt: Date(microseconds: try row.get("closes_at")),
      isOpen: try row.get("is_open"))
  }

  /// The task of a worker that opens the window by a schedule.
  ///
  /// - Parameter pause: the shortest pause between two looks.
  package static func opening(
    by schedule: WindowSchedule?, pause: Duration, _ log: Logger
  ) -> MaintenanceTask {
    MaintenanceTask("window", every: .seconds(30), by: .eachWorker) { pool in
      while let (isOpened, next) = try await open(by: schedule, pool) {
        if isOpened { log.info("the daily window has opened") }
        try await Task.sleep(for: max(min(next, .seconds(30)), pause))
      }
    }
  }

  /// Opens the window if it is due. Of several workers that do so at once, one opens it; if several times were missed, it opens once.
  ///
  /// - Returns: the time after which to call it again; nil: this process has no schedule.
  package static func open(
    by schedule: WindowSchedule?, _ pool: Pool
  ) async throws -> (isOpened: Bool, next: Duration)? {
    guard let schedule else { return nil }
    return try await pool.transaction { session -> (isOpened: Bool, next: Duration) in
      let text = Parameter.text(schedule.description)
      let parameters = Self.parameters(of: schedule) + [text]
      guard let row = try session.execute(Self.statements["time_to_opening"], text).first else {
        try session.execute(Self.statements["schedule_window"], parameters)
        return (false, .zero)
      }
      let seconds: Double = try row.get("seconds")
      guard seconds <= 0 else { return (false, .seconds(seconds)) }
      guard let id = try session.execute(Self.statements["open_window"], parameters).first?.get("id", as: Int64.self)
      else { return (false, .zero) }
      try session.executeAfterCommit(Self.statements["notify_window"], .text(channel), .integer(id))
      return (true, .zero)
    }
  }

  /// The time at which this process opens the window next; nil: it has no schedule.
  package static func nextOpening(by schedule: WindowSchedule?, _ session: Session) throws(PostgresError) -> Date? {
    guard let schedule else { return nil }
    let rows = try session.execute(Self.statements["next_opening"], Self.parameters(of: schedule))
    return Date(microseconds: try rows.single().get("at"))
  }

  /// The schedule by which the window opened last, or is to open; nil: none has been in use for a week.
  package static func lastSchedule(_ session: Session) throws(PostgresError) -> String? {
    try session.execute(Self.statements["window_schedule"]).first?.get("schedule", as: String.self)
  }

  static func parameters(of schedule: WindowSchedule) -> [Parameter] {
    [
      .integers(schedule.openings.map(\.secondOfDay).map(Int64.init)),
      .integers(schedule.openings.map(\.seconds).map(Int64.init)),
      .text(schedule.zone),
    ]
  }

  /// Judges a post that arrives now, by the daily windows; nil if it is not a moment, or none has opened yet.
  ///
  /// - Parameter rule: nil: the defaults.
  /// - Throws: `PunctualityRefusal`.
  static func judge(_ draft: PostDraft, _ rule: Definition.Window?, _ session: Session) throws -> Punctuality? {
    guard draft.kind == .take5 else { return nil }
    let rule = rule ?? Definition.Window()
    guard let punctuality = try punctuality(draft.capturedAt, rule, session) else { return nil }
    guard rule.accepts(punctuality) else { throw PunctualityRefusal(punctuality: punctuality) }
    return punctuality
  }

  private static func punctuality(
    _ captured: Date?, _ rule: Definition.Window, _ session: Session
  ) throws -> Punctuality? {
    let time = Parameter.timestamp(microseconds: captured.map(\.microseconds))
    guard let row = try session.execute(Self.statements["windows_at"], time).first else { return nil }
    func window(_ name: String) throws -> Punctuality.Window? {
      guard let opened = try row.get("\(name)_opened", as: Int64?.self) else { return nil }
      return Punctuality.Window(
        opened: Date(microseconds: opened), closes: Date(microseconds: try row.get("\(name)_closes")))
    }
    let arrived = Date(microseconds: try row.get("present"))
    let recorded = Punctuality.recorded(captured, arrived: arrived)
    return Punctuality(
      recorded: recorded, arrived: arrived, ofRecording: recorded == nil ? nil : try window("recorded"),
      ofArrival: try window("arrived"), rule)
  }

  /// Returns the position of the last opening or closing of a window; 0 if there was none.
  package static func lastChange(_ session: Session) throws(PostgresError) -> Int64 {
    guard let row = try session.execute(Self.statements["last_window"]).first else { return 0 }
    return try 2 * row.get("id", as: Int64.self) + (row.get("is_over", as: Bool.self) ? 1 : 0)
  }

  /// Reads the openings and closings that follow a position, the oldest first.
  ///
  /// A window that was still open when the next one opened has no closing: apps know one window, the latest.
  package static func changes(after position: Int64, _ session: Session) throws -> [WindowChange] {
    let windows = try session.execute(Self.statements["windows"], .integer(position / 2)).map { row in
      (
        id: try row.get("id", as: Int64.self), opened: Date(microseconds: try row.get("opened_at")),
        closes: Date(microseconds: try row.get("closes_at")), isOver: try row.get("is_over", as: Bool.self)
      )
    }
    var changes: [WindowChange] = []
    for (index, window) in windows.enumerated() {
      let next = windows.indices.contains(index + 1) ? windows[index + 1].opened : nil
      changes.append(WindowChange(position: 2 * window.id, openedAt: window.opened, closesAt: window.closes))
      if window.isOver, next.map({ window.closes <= $0 }) ?? true {
        changes.append(WindowChange(position: 2 * window.id + 1, openedAt: window.opened, closesAt: window.closes))
      }
    }
    return changes.filter { $0.position > position }
  }
}

/// The error for a moment that is not on time, where the definition refuses it.
package struct PunctualityRefusal: Error, Sendable, Hashable {
  package let punctuality: Punctuality
}

extension MediaDefinition {
  /// How posts are judged by the daily window; nil: by the defaults.
  var window: Definition.Window? {
    if case .clips(let definition) = self { definition.window } else { nil }
  }
}
