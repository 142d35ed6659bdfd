import Model
package import Postgres
package import Queue

/// The arguments of a job that opens the daily window.
package struct WindowJob: ScheduledJob {
  package static let kind = "window"
  package static let abstract = "opens the daily window"
  package static let example = "{\"seconds\": 300}, the time for which it is open"
  package static let remedy = "write {\"seconds\": N}, N from 1 to 86400"

  /// The time for which the window stays open.
  private let seconds: Int

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

  /// Opens the window; listeners are notified after the commit.
  package func perform(_ job: ClaimedJob, in store: Store, _ session: Session) throws -> TaskStep {
    let id = Parameter.text(job.publicID.description)
    try session.execute(Store.statements["lock_windows"])
    try session.execute(Store.statements["open_window"], id, .integer(seconds))
    try session.executeAfterCommit(Store.statements["notify_window"], .text(Store.windowChannel), id)
    return .last
  }
}
