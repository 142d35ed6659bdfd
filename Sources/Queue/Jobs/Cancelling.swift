/// What became of the wish to cancel a job.
package enum Cancelling: Sendable, Hashable {
  /// It was waiting, and is cancelled.
  case cancelled
  /// It is running; its worker was told to stop.
  case requested
  /// There is no such job that is not over.
  case notLive
}
