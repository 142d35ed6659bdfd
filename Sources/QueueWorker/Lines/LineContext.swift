import Logging
import Platform
import Postgres

/// What every line of a worker works with.
struct LineContext: Sendable {
  let worker: Int64
  let configuration: QueueWorkerConfiguration
  let pool: Pool
  let heart: Heart
  let wake = WakeUp()
  /// Raised when the worker is to end.
  let stopping: CancellationFlag
  /// Raised when the worker was taken for dead.
  let isEvicted: CancellationFlag
  let metrics: WorkMetrics
  let log: Logger

  /// Whether further jobs may be taken.
  var mayClaim: Bool { !stopping.isCancelled && !isEvicted.isCancelled }
}
