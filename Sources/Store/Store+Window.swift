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
}
