import Model
import Platform
import QueueWorker

/// Who asks for the attempts of a local run: nobody but the one who may interrupt the command.
struct LocalControl: AttemptControl {
  let cancellation: CancellationFlag

  var stopReason: HeldJob.StopReason? { cancellation.isCancelled ? .drained : nil }

  func advance(to progress: JobProgress) {}
}
