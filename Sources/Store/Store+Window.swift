import FoundationEssentials
package import Model
package import Postgres
import Queue

/// The daily window, which a scheduled job opens.
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
