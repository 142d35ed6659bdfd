/// The arguments of a job whose way is timed.
struct QueueArrival: Codable, Sendable {
  /// -1: of the job that finds out whether the worker is there.
  let index: Int
  /// When the call that enqueues it began, in nanoseconds of `CLOCK_MONOTONIC`.
  let sent: Int64
}
