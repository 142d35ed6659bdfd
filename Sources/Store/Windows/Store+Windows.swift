import FoundationEssentials
package import Model
package import Postgres
package import Queue

/// The daily window, which a job opens.
extension Store {
  /// The channel on which is said that a window has opened, with its times as JSON.
  package static let windowChannel = "take5_windows"

  /// Opens the window for a job, in the transaction that completes the job: once for each job, however many attempts it
  /// takes. Listeners are notified after the commit.
  package func openWindow(for job: ClaimedJob, _ session: Session) throws {
    let window: WindowJob
    do { window = try JSON.decode(WindowJob.self, from: job.arguments) } catch {
      throw StoreError.unreadableJob(job.publicID, JSON.reason(error))
    }
    try session.execute(
      Self.statements["open_window"], .text(job.publicID.description), .integer(window.seconds))
    try session.executeAfterCommit(
      Self.statements["notify_window"], .text(Self.windowChannel), .text(job.publicID.description))
  }

  /// The window that is open, or else the last one; nil if there was none yet.
  package func window(_ session: Session) throws(PostgresError) -> DailyWindow? {
    guard let row = try session.execute(Self.statements["window"]).first else { return nil }
    return DailyWindow(
      openedAt: Date(microseconds: try row.get("opened_at")), closesAt: Date(microseconds: try row.get("closes_at")),
      isOpen: try row.get("is_open"))
  }
}
