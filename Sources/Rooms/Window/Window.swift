import CRoomsSQL
import FoundationEssentials
internal import HTTPServer
internal import Kit
package import Model
package import Postgres
package import Queue
import Store

/// The daily window, which workers open by a schedule.
package enum Window: Room {
  package static let statements = Statements(topic: "window", RoomsSQL.Window)

  package static let migrations = [
    Migration(version: 149, name: "window_schedule", RoomsSQL.v0149_window_schedule),
    Migration(version: 153, name: "window", RoomsSQL.v0153_window),
    Migration(version: 167, name: "window_offset", RoomsSQL.v0167_window_offset),
  ]

  package static var settingAside: [SetAside.Table] { [.windowSchedule] }

  /// The channel of the notification that a window has opened; the payload is JSON with its times.
  package static let channel = "take5_windows"

  /// Reads the latest window, open or closed; nil if there was none yet.
  package static func latest(_ session: Session) throws(PostgresError) -> DailyWindow? {
    try latest(1, session).first
  }

  /// Reads the latest windows, the last one first.
  package static func latest(_ count: Int, _ session: Session) throws(PostgresError) -> [DailyWindow] {
    var windows: [DailyWindow] = []
    for row in try session.execute(Self.statements["latest_windows"], .integer(count)) {
      windows.append(
        DailyWindow(
          openedAt: Date(microseconds: try row.get("opened_at")),
          closesAt: Date(microseconds: try row.get("closes_at")), isOpen: try row.get("is_open")))
    }
    return windows
  }

  /// Judges a post that arrives now, by the daily windows; nil if it is not a moment, or none has opened yet.
  ///
  /// - Parameters:
  ///   - began: when its upload began.
  ///   - rule: nil: the defaults.
  /// - Throws: `PunctualityRefusal`.
  static func judge(
    _ draft: PostDraft, began: ContinuousClock.Instant, _ rule: Definition.Window?, _ session: Session
  ) throws -> Punctuality? {
    guard draft.kind == .take5 else { return nil }
    let rule = rule ?? Definition.Window()
    guard let punctuality = try punctuality(draft.capturedAt, began, rule, session) else { return nil }
    guard rule.accepts(punctuality) else { throw PunctualityRefusal(punctuality: punctuality) }
    return punctuality
  }

  private static func punctuality(
    _ captured: Date?, _ began: ContinuousClock.Instant, _ rule: Definition.Window, _ session: Session
  ) throws -> Punctuality? {
    let rows = try session.execute(
      Self.statements["windows_at"], .timestamp(microseconds: captured.map(\.microseconds)),
      .double(began.duration(to: .now) / .seconds(1)), .double(rule.earlySeconds))
    guard let row = rows.first else { return nil }
    func window(_ name: String) throws -> Punctuality.Window? {
      guard let opened = try row.get("\(name)_opened", as: Int64?.self) else { return nil }
      return Punctuality.Window(
        opened: Date(microseconds: opened), closes: Date(microseconds: try row.get("\(name)_closes")))
    }
    let (arrived, began) = (Date(microseconds: try row.get("present")), Date(microseconds: try row.get("began")))
    let recorded = Punctuality.recorded(captured, began: began, arrived: arrived)
    return Punctuality(
      recorded: recorded, began: began, arrived: arrived, ofRecording: recorded == nil ? nil : try window("recorded"),
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

extension PunctualityRefusal: RequestRefusal {
  var problem: Problem {
    let late = punctuality.lateSeconds.map { "It is \(CountText.text($0, "second")) late." }
    return ProblemKind.notOnTime.problem(late ?? "It was not recorded in a window.")
  }
}

extension MediaDefinition {
  /// How posts are judged by the daily window; nil: by the defaults.
  var window: Definition.Window? {
    if case .clips(let definition) = self { definition.window } else { nil }
  }
}
