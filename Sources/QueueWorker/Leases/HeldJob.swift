package import Model
package import Platform
package import Queue

/// A job whose lease this worker holds, and what the rest of the worker may tell the attempt.
package final class HeldJob: Sendable {
  /// Why an attempt should stop before it is done.
  package enum Stop: Sendable, Hashable {
    /// Somebody else may hold the job by now: nothing may be written for it.
    case leaseLost
    /// An operator, or the deletion of the post, wants it cancelled.
    case cancelled
    /// The worker ends, and gives the job back.
    case drained
  }

  private struct State {
    var stop: Stop?
    var progress = JobProgress(fraction: 0, stage: "")
    var isReported = true
    var stageBegan = ContinuousClock.now
  }

  package let job: ClaimedJob
  /// Raised together with `stop`; the media work reads it between packets.
  package let cancellation = CancellationFlag()
  private let state = Locked(State())
  private let metrics: WorkMetrics

  init(_ job: ClaimedJob, metrics: WorkMetrics) {
    self.job = job
    self.metrics = metrics
  }

  /// Asks the attempt to stop; a lost lease outweighs what was asked before.
  package func stop(_ reason: Stop) {
    state.withLock { state in
      if state.stop == nil || reason == .leaseLost { state.stop = reason }
    }
    cancellation.cancel()
  }

  /// Why it should stop; nil while it should go on.
  package var stopReason: Stop? { state.withLock { $0.stop } }

  /// Notes how far the attempt has come.
  package func advance(to progress: JobProgress) {
    let ended = state.withLock { state -> (stage: String, began: ContinuousClock.Instant)? in
      defer {
        state.isReported = state.isReported && state.progress == progress
        state.progress = progress
      }
      guard state.progress.stage != progress.stage else { return nil }
      defer { state.stageBegan = .now }
      return (state.progress.stage, state.stageBegan)
    }
    if let ended { count(ended.stage, since: ended.began) }
  }

  /// The last stage of an attempt is over.
  package func endStage() {
    let (stage, began) = state.withLock { ($0.progress.stage, $0.stageBegan) }
    count(stage, since: began)
  }

  /// An attempt ended so: see `WorkMetrics.end`.
  package func end(_ outcome: String) { metrics.end(kind: job.kind, outcome: outcome) }

  private func count(_ stage: String, since began: ContinuousClock.Instant) {
    guard !stage.isEmpty else { return }
    metrics.stage(stage, kind: job.kind, seconds: began.duration(to: .now) / .seconds(1))
  }

  /// What has not been written down yet; nil if nothing changed.
  func takeProgress() -> JobProgress? {
    state.withLock { state in
      defer { state.isReported = true }
      return state.isReported ? nil : state.progress
    }
  }
}
