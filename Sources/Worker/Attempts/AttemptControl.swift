import Model
import Platform
import QueueWorker

/// Who asks for an attempt: may stop it, and is told how far it has come.
protocol AttemptControl: Sendable {
  /// Raised when it is to stop; the media work reads it between packets.
  var cancellation: CancellationFlag { get }
  /// Why it is to stop; nil while it is to go on.
  var stopReason: HeldJob.Stop? { get }
  /// Notes how far the attempt has come.
  func advance(to progress: JobProgress)
}

extension HeldJob: AttemptControl {}
