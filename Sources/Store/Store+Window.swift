import FoundationEssentials
package import Model
package import Postgres
package import Queue

/// The daily window, which a scheduled job opens.
extension Store {
  /// The channel of the notification that a window has opened; the payload is JSON with its times.
  package static let windowChannel = "take5_windows"

  /// Opens the window in the transaction that completes the job, so once for each job, regardless of the number of
  /// attempts. Listeners are notified after the commit.
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

  /// Reads the latest window, open or closed; nil if there was none yet.
  package func window(_ session: Session) throws(PostgresError) -> DailyWindow? {
    guard let row = try session.execute(Self.statements["window"]).first else { return nil }
    return DailyWindow(
      openedAt: Date(microseconds: try row.get("opened_at")), closesAt: Date(microseconds: try row.get("closes_at")),
      isOpen: try row.get("is_open"))
  }
}

/// The arguments of a job that opens the daily window.
package struct WindowJob: Decodable, Sendable, Hashable {
  /// The time for which the window stays open.
  package let seconds: Int

  private static let limits = 1...86_400

  /// Decodes `{"seconds": 300}`; the default is 300.
  package init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let fields = try container.decode([String: Int].self)
    seconds = fields["seconds"] ?? 300
    guard Set(fields.keys).isSubset(of: ["seconds"]), Self.limits ~= seconds else {
      throw DecodingError.dataCorruptedError(
        in: container,
        debugDescription: "expected no key but seconds, from \(Self.limits.lowerBound) to \(Self.limits.upperBound)")
    }
  }
}

/// The kinds of the jobs that need no media process.
package enum TaskKind: String, Sendable, CaseIterable {
  /// Opens the daily window.
  case window

  /// The queue of these jobs.
  package static let queue = "tasks"
}
