import Model
import Platform
import Queue

/// A job whose lease this worker holds, and what the rest of the worker may tell the attempt.
final class HeldJob: Sendable {
  /// Why an attempt should stop before it is done.
  enum Stop: Sendable, Hashable {
    /// Somebody else may hold the job by now: nothing may be written for it.
    case leaseLost
    /// An operator, or the deletion of the post, wants it cancelled.
    case cancelled
    /// The worker ends, and gives the job back.
    case drained
  }

  private struct State {
    var stop: Stop?
    var progress = JobProgress(fraction: 0, stage: "probe")
    var isReported = true
  }

  let job: ClaimedJob
  /// Raised together with `stop`; the media work reads it between packets.
  let cancellation = CancellationFlag()
  private let state = Locked(State())

  init(_ job: ClaimedJob) { self.job = job }

  /// Asks the attempt to stop; a lost lease outweighs what was asked before.
  func stop(_ reason: Stop) {
    state.withLock { state in
      if state.stop == nil || reason == .leaseLost { state.stop = reason }
    }
    cancellation.cancel()
  }

  /// Why it should stop; nil while it should go on.
  var stopReason: Stop? { state.withLock { $0.stop } }

  /// Notes how far the attempt has come.
  func advance(to progress: JobProgress) {
    state.withLock { state in
      state.isReported = state.isReported && state.progress == progress
      state.progress = progress
    }
  }

  /// What has not been written down yet; nil if nothing changed.
  func takeProgress() -> JobProgress? {
    state.withLock { state in
      defer { state.isReported = true }
      return state.isReported ? nil : state.progress
    }
  }
}
