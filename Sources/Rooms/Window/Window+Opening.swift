package import FoundationEssentials
internal import Kit
package import Model
package import Postgres
package import Queue
internal import Store
package import Telemetry

/// The schedule of the window and its opening. Only the database knows when it opens next.
extension Window {
  /// The schedule that is in use, as it is stored, or as a process has it by its option.
  package struct Scheduled: Sendable, Hashable {
    package let schedule: String
    /// Whether an operator has set it; otherwise it is the option of a process.
    package let isOperators: Bool
    /// The time to the opening in seconds, negative if it is due.
    fileprivate let seconds: Double

    private static let unused = -7 * 86_400.0

    package var source: WindowScheduleSource { isOperators ? .operator : .option }

    /// Whether the window opened by it within a week, or is to open.
    package var isInUse: Bool { isOperators || seconds > Self.unused }
  }

  /// The channel of the notification that the schedule was set.
  private static let scheduleChannel = "take5_window_schedule"

  /// The tasks of a worker that open the window: one worker learns at once of a schedule that is set, and every worker opens by one that
  /// it has found.
  ///
  /// - Parameters:
  ///   - option: the schedule of this process while no operator has set one; nil: none.
  ///   - pause: the shortest pause between two looks.
  package static func opening(
    by option: WindowSchedule?, pause: Duration, _ log: Logger
  ) -> [MaintenanceTask] {
    let look = { @Sendable (pool: Pool) async throws -> Duration? in
      guard let (isOpened, next) = try await open(by: option, pool) else { return nil }
      if isOpened { log.info("the daily window has opened") }
      return max(min(next, .seconds(30)), pause)
    }
    return [
      MaintenanceTask("window schedule", on: scheduleChannel, look),
      MaintenanceTask("window", every: option == nil ? .seconds(300) : .seconds(30), by: .eachWorker) { pool in
        while let pause = try await look(pool) { try await Task.sleep(for: pause) }
      },
    ]
  }

  /// Opens the window if it is due. Of several workers that do so at once, one opens it; if several times were missed, it opens once.
  ///
  /// - Returns: the time after which to call it again; nil: there is no schedule.
  package static func open(
    by option: WindowSchedule?, _ pool: Pool
  ) async throws -> (isOpened: Bool, next: Duration)? {
    let stored = try await pool.run { try scheduled($0) }
    let schedule = stored.flatMap { $0.isOperators ? WindowSchedule($0.schedule) : nil } ?? option
    // A schedule of an operator that only a later version reads is for processes of that version.
    guard let schedule, stored?.isOperators != true || stored?.schedule == schedule.description else { return nil }
    try await pool.run { try noteUnknownZone(of: schedule, $0) }
    let parameters = parameters(of: schedule) + [.text(schedule.description)]
    guard let stored, stored.schedule == schedule.description else {
      try await pool.run { _ = try $0.execute(Self.statements["schedule_window"], parameters) }
      return (false, .zero)
    }
    guard stored.seconds <= 0 else { return (false, .seconds(stored.seconds)) }
    return try await pool.transaction { session -> (isOpened: Bool, next: Duration) in
      guard let row = try session.execute(Self.statements["open_window"], parameters).first else {
        return (false, .zero)
      }
      let times = [
        "opened_at": Date(microseconds: try row.get("opened_at")),
        "closes_at": Date(microseconds: try row.get("closes_at")),
      ]
      try Store.notify(UserEvent.service, of: .windowOpened, by: nil, data: try JSON.encode(times), session)
      try session.executeAfterCommit(
        Self.statements["notify_window"], .text(channel), .integer(row.get("id", as: Int64.self)))
      return (true, .zero)
    }
  }

  /// Notes a zone that the server does not know any more; the window opens by the last offset of it until then.
  private static func noteUnknownZone(of schedule: WindowSchedule, _ session: Session) throws {
    let zone = schedule.zone
    let row = try session.execute(Self.statements["is_zone_known"], .text(zone)).single()
    guard try !row.get("is_known", as: Bool.self) else { return }
    try SetAside.note(.windowSchedule, schedule.description, because: "unknown time zone '\(zone)'", session)
  }

  /// The stored schedule; nil: there is none.
  package static func scheduled(_ session: Session) throws(PostgresError) -> Scheduled? {
    guard let row = try session.execute(Self.statements["window_schedule"]).first else { return nil }
    return Scheduled(
      schedule: try row.get("schedule"), isOperators: try row.get("is_operators"), seconds: try row.get("seconds"))
  }

  /// Reads a schedule; throws `InvalidSchedule`.
  package static func schedule(_ text: String, _ session: Session) throws -> WindowSchedule {
    guard let schedule = WindowSchedule(text) else {
      throw InvalidSchedule(
        reason: "expected a schedule such as '18:00-18:05 Europe/Berlin' or '5m in 09:00-21:00 UTC'")
    }
    guard try KnownTimeZones().contain(schedule.zone, session) else {
      throw InvalidSchedule(reason: "unknown time zone '\(schedule.zone)': expected a name such as Europe/Berlin")
    }
    return schedule
  }

  /// Sets the schedule in place of the options of processes, or removes what was set. One that is set again keeps its times.
  ///
  /// - Parameters:
  ///   - schedule: nil: none.
  ///   - check: called with the stored schedule, which no one else changes until the end of the transaction.
  package static func set(
    _ schedule: WindowSchedule?, _ session: Session, check: (Scheduled?) throws -> Void = { _ in }
  ) throws {
    try session.execute(Self.statements["lock_window_schedule"])
    try check(try scheduled(session))
    try session.executeAfterCommit(Store.statements["notify_user"], .text(scheduleChannel), .text(""))
    guard let schedule else {
      try session.execute(Self.statements["clear_window"])
      return
    }
    try session.execute(Self.statements["set_window"], parameters(of: schedule) + [.text(schedule.description)])
  }

  /// What a schedule does in the next days: the hours in which the window opens once each.
  package static func preview(_ schedule: WindowSchedule, _ session: Session) throws -> [WindowHours] {
    try session.execute(Self.statements["preview_window"], parameters(of: schedule)).map { row in
      WindowHours(
        localFrom: try row.get("local_from"), localUntil: try row.get("local_until"),
        from: Date(microseconds: try row.get("starts_at")), until: Date(microseconds: try row.get("ends_at")),
        seconds: try row.get("seconds"))
    }
  }

  static func parameters(of schedule: WindowSchedule) -> [Parameter] {
    [
      .integers(schedule.openings.map(\.first).map(Int64.init)),
      .integers(schedule.openings.map(\.end).map(Int64.init)),
      .integers(schedule.openings.map(\.seconds).map(Int64.init)), .text(schedule.zone),
      .integers(schedule.days.map(Int64.init)),
    ]
  }
}

package enum WindowScheduleSource: String, Encodable, Sendable {
  /// It was set by the API or by `take5 window set`.
  case `operator`
  /// It is the option of a process.
  case option
}

/// A text that is no schedule of the daily window.
package struct InvalidSchedule: Error, Sendable, Hashable {
  package let reason: String
}

/// Hours in which the window opens once: at their begin if they have no length, otherwise at any time of them, each as likely as the others.
package struct WindowHours: NilEncodable, Sendable, Hashable {
  /// By the clock of the zone, without an offset.
  package let localFrom: String
  package let localUntil: String
  package let from: Date
  package let until: Date
  /// The time for which the window stays open.
  package let seconds: Int

  /// The probability that it opens in a given minute of them; nil: the time is fixed.
  package let perMinute: Double?

  init(localFrom: String, localUntil: String, from: Date, until: Date, seconds: Int) {
    (self.localFrom, self.localUntil, self.from, self.until) = (localFrom, localUntil, from, until)
    self.seconds = seconds
    perMinute = from < until ? min(1, 60 / until.timeIntervalSince(from)) : nil
  }
}

extension SetAside.Table {
  /// The window opens by the last offset of its zone.
  static let windowSchedule = Self("window_schedule")
}
