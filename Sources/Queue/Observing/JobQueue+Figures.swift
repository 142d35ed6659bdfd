package import FoundationEssentials
import Model
package import Postgres

/// What the console draws of the queue.
extension JobQueue {
  /// The outcomes of the jobs that ended within the last hour, by minute and kind; reads the history of that time.
  package static func minutes(_ session: Session) throws(PostgresError) -> [FinishedMinute] {
    var minutes: [FinishedMinute] = []
    for row in try session.execute(observing["minutes"]) {
      minutes.append(
        FinishedMinute(
          at: Date(microseconds: try row.get("at")), kind: try row.get("kind"), accepted: try row.get("accepted"),
          rejected: try row.get("rejected"), cancelled: try row.get("cancelled")))
    }
    return minutes
  }

  /// The times from submission to end of the jobs that ended within the last hour, by kind; reads the history of that time.
  package static func times(_ session: Session) throws(PostgresError) -> [JobTimes] {
    var times: [JobTimes] = []
    for row in try session.execute(observing["times"]) {
      times.append(
        JobTimes(
          kind: try row.get("kind"), jobs: try row.get("jobs"), p50Seconds: try row.get("p50"),
          p95Seconds: try row.get("p95"), p99Seconds: try row.get("p99")))
    }
    return times
  }

  /// The most frequent last errors of the newest dead jobs.
  package static func deadErrors(_ session: Session) throws(PostgresError) -> [DeadError] {
    var errors: [DeadError] = []
    for row in try session.execute(observing["dead_errors"]) {
      errors.append(DeadError(error: try row.get("error"), jobs: try row.get("jobs")))
    }
    return errors
  }
}

/// The outcomes of the jobs of one kind that ended in one minute.
package struct FinishedMinute: Encodable, Sendable, Hashable {
  /// The begin of the minute.
  package let at: Date
  package let kind: String
  package let accepted: Int
  package let rejected: Int
  package let cancelled: Int
}

/// The times from submission to end of the jobs of one kind, as percentiles.
package struct JobTimes: Encodable, Sendable, Hashable {
  package let kind: String
  package let jobs: Int
  package let p50Seconds: Double
  package let p95Seconds: Double
  package let p99Seconds: Double
}

/// A text that dead jobs have as their last error.
package struct DeadError: NilEncodable, Sendable, Hashable {
  /// The first line, up to 200 characters; nil: they have none.
  package let error: String?
  package let jobs: Int
}
