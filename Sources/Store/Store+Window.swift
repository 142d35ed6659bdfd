package import FoundationEssentials
package import Model
package import Postgres
import Queue

/// The daily window, which workers open by a schedule.
extension Store {
  /// The channel of the notification that a window has opened; the payload is JSON with its times.
  package static let windowChannel = "take5_windows"

  /// Reads the latest window, open or closed; nil if there was none yet.
  package func window(_ session: Session) throws(PostgresError) -> DailyWindow? {
    guard let row = try session.execute(Self.statements["window"]).first else { return nil }
    return DailyWindow(
      openedAt: Date(microseconds: try row.get("opened_at")), closesAt: Date(microseconds: try row.get("closes_at")),
      isOpen: try row.get("is_open"))
  }

  /// Opens the window if it is due. Of several workers that do so at once, one opens it; if several times were missed, it opens once.
  ///
  /// - Returns: the time after which to call it again; nil: this process has no schedule.
  package func openWindow(_ pool: Pool) async throws -> (isOpened: Bool, next: Duration)? {
    guard let schedule = windowSchedule else { return nil }
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
      try session.executeAfterCommit(Self.statements["notify_window"], .text(Store.windowChannel), .integer(id))
      return (true, .zero)
    }
  }

  /// The time at which this process opens the window next; nil: it has no schedule.
  package func nextOpening(_ session: Session) throws(PostgresError) -> Date? {
    guard let schedule = windowSchedule else { return nil }
    let rows = try session.execute(Self.statements["next_opening"], Self.parameters(of: schedule))
    return Date(microseconds: try rows.single().get("at"))
  }

  /// Whether the database knows the time zone of a schedule.
  package func knowsZone(of schedule: WindowSchedule, _ session: Session) throws -> Bool {
    try timeZones.contain(schedule.zone, session)
  }

  /// The schedule by which the window opened last, or is to open; nil: none has been in use for a week.
  package func lastWindowSchedule(_ session: Session) throws(PostgresError) -> String? {
    try session.execute(Self.statements["window_schedule"]).first?.get("schedule", as: String.self)
  }

  static func parameters(of schedule: WindowSchedule) -> [Parameter] {
    [
      .integers(schedule.openings.map(\.secondOfDay).map(Int64.init)),
      .integers(schedule.openings.map(\.seconds).map(Int64.init)),
      .text(schedule.zone),
    ]
  }

  /// Judges a moment that arrives now, by the daily windows; nil if none has opened yet.
  func judge(_ captured: Date?, _ rule: Definition.Window, _ session: Session) throws -> Punctuality? {
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
}
