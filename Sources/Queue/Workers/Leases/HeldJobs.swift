package import Model
package import Platform
import Telemetry

/// A job whose lease this worker holds.
package final class HeldJob: Sendable {
  /// Why an attempt must stop before it has ended.
  package enum StopReason: Sendable, Hashable {
    /// Another worker may hold the job by now: the attempt must write nothing.
    case leaseLost
    /// The job is cancelled.
    case cancelled
    /// The worker ends and releases the job.
    case drained
  }

  private struct Stage {
    let name: String
    let start = ContinuousClock.now
    var trace: TraceContext?
  }

  private struct State {
    var stopReason: StopReason?
    var progress = JobProgress(fraction: 0, stage: "")
    var isStored = true
    var stage = Stage(name: "")
    var outcome: String?
  }

  package let job: ClaimedJob
  /// Raised together with `stop`; media work reads it between packets.
  package let cancellation = CancellationFlag()
  private let state = Locked(State())
  private let metrics: WorkerMetrics
  private let claimed = ContinuousClock.now
  private let trace: AttemptTrace?

  /// - Parameter tracer: nil: the attempt is not traced.
  init(_ job: ClaimedJob, metrics: WorkerMetrics, tracer: Tracer? = nil) {
    self.job = job
    self.metrics = metrics
    trace = tracer.map { AttemptTrace(job, $0) }
  }

  /// Work of the attempt belongs to the spans of this scope; nil if it is not traced.
  var scope: TraceScope? { trace?.scope }

  /// Asks the attempt to stop; a lost lease overrules earlier reasons.
  package func stop(_ reason: StopReason) {
    state.withLock { state in
      if state.stopReason == nil || reason == .leaseLost { state.stopReason = reason }
    }
    cancellation.cancel()
  }

  /// Why the attempt must stop; nil while it may run.
  package var stopReason: StopReason? { state.withLock { $0.stopReason } }

  /// Notes the attempt's progress.
  package func advance(to progress: JobProgress) {
    state.withLock { state in
      state.isStored = state.isStored && state.progress == progress
      state.progress = progress
    }
    begin(stage: progress.stage)
  }

  /// Begins a stage of the attempt, unless it is in that stage, and ends the one before.
  package func begin(stage: String) {
    let ended = state.withLock { state -> Stage? in
      guard state.stage.name != stage else { return nil }
      defer { state.stage = Stage(name: stage, trace: trace?.begin(stage: !stage.isEmpty)) }
      return state.stage
    }
    guard let ended, !ended.name.isEmpty else { return }
    metrics.stage(ended.name, kind: job.kind, seconds: ended.start.duration(to: .now) / .seconds(1))
    if let context = ended.trace { trace?.end(stage: ended.name, context, since: ended.start) }
  }

  /// Ends the last stage of the attempt.
  package func endStage() { begin(stage: "") }

  /// Counts the time until the job has made what was submitted ready.
  package func countReady() {
    metrics.ready(job.ageSeconds + claimed.duration(to: .now) / .seconds(1), kind: job.kind)
  }

  /// Counts the attempt by its outcome: see `WorkerMetrics.end`.
  package func end(_ outcome: String) {
    state.withLock { $0.outcome = outcome }
    metrics.end(kind: job.kind, outcome: outcome)
  }

  /// How the attempt has ended; nil while it runs.
  var outcome: String? { state.withLock { $0.outcome } }

  /// Ends the span of the attempt.
  func endTrace() {
    endStage()
    trace?.end(job, outcome: outcome)
  }

  /// Counts an input that the attempt quarantined.
  package func countQuarantined(_ code: ReasonCode) { metrics.quarantined(kind: job.kind, code) }

  /// The progress that is not stored yet; nil if there is none.
  func takeProgress() -> JobProgress? {
    state.withLock { state in
      defer { state.isStored = true }
      return state.isStored ? nil : state.progress
    }
  }
}

/// The jobs that this worker holds, by token: the next attempt at a job may start here before the last one has returned.
final class HeldJobs: Sendable {
  private let jobs = Locked<[Int64: HeldJob]>([:])
  /// The attempts at jobs that are not held any more.
  let ended = AttemptWindow()

  func add(_ held: HeldJob) { jobs.withLock { $0[held.job.token] = held } }

  func remove(_ held: HeldJob) { jobs.withLock { $0[held.job.token] = nil } }

  var all: [HeldJob] { jobs.withLock { Array($0.values) } }

  subscript(token: Int64) -> HeldJob? { jobs.withLock { $0[token] } }

  /// Asks every attempt to stop.
  func stopAll(_ reason: HeldJob.StopReason) { for held in all { held.stop(reason) } }
}
