import Model
import Platform
import QueueWorker

/// What an attempt is at.
enum AttemptStage: String, Sendable {
  case probe
  case compose
  case photo
  case publish

  /// Those in which media are decoded: they can break a worker.
  static let atRisk: Set<String> = [probe.rawValue, compose.rawValue, photo.rawValue]
}

/// Who asks for an attempt: may stop it, and is told how far it has come.
protocol AttemptControl: Sendable {
  /// Raised when it is to stop; the media work reads it between packets.
  var cancellation: CancellationFlag { get }
  /// Why it is to stop; nil while it is to go on.
  var stopReason: HeldJob.StopReason? { get }
  /// Notes how far the attempt has come.
  func advance(to progress: JobProgress)
}

extension AttemptControl {
  func advance(_ stage: AttemptStage, _ fraction: Double) {
    advance(to: JobProgress(fraction: fraction, stage: stage.rawValue))
  }
}

extension HeldJob: AttemptControl {}
