package import Postgres
package import Queue

/// Sends what waits for the receivers of a kind, such as webhooks. A job is the turn of one receiver: it exists while something is due.
package protocol Courier: Sendable {
  /// The queue of its jobs.
  var queue: String { get }
  /// The number of receivers at a time.
  var slots: Int { get }

  /// Sends the next page of due messages, and records their outcomes in transactions that begin with `JobQueue.confirm`.
  ///
  /// - Parameter isStopped: whether the attempt is to end, after what has been sent is recorded.
  /// - Returns: whether more may be due.
  func deliver(_ job: ClaimedJob, isStopped: @escaping @Sendable () -> Bool, _ pool: Pool) async throws -> Bool

  /// Whether something is due for the receiver of a job.
  func hasDue(_ job: ClaimedJob, _ session: Session) throws -> Bool
}
