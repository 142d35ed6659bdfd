import Metrics
import Model
import Queue

/// What a worker counts: jobs by how they ended, how long they waited and took, and leases that were lost.
struct WorkMetrics: Sendable {
  private let metrics: Metrics

  init(_ metrics: Metrics) { self.metrics = metrics }

  /// - Parameter outcome: `accepted`, `rejected`, `cancelled`, `retried`, `dead`, `released` or `lost`.
  func end(kind: String, outcome: String, by amount: Int = 1) {
    metrics.count(
      "take5_jobs_total", "Attempts at jobs by how they ended.", ["kind": kind, "outcome": outcome],
      by: Double(amount))
  }

  /// A queue is paused because it cannot be served here, or goes on.
  func pause(_ queue: String, _ isPaused: Bool) {
    metrics.set(
      "take5_queue_paused", "Whether the worker keeps away from a queue that it cannot serve.", ["queue": queue],
      isPaused ? 1 : 0)
  }

  /// Jobs were claimed: how long each could have run before.
  func claimed(_ jobs: [ClaimedJob]) {
    var waits: [String: [Double]] = [:]
    for job in jobs { waits[job.kind, default: []].append(job.waitedSeconds) }
    for (kind, seconds) in waits {
      metrics.observe(
        "take5_job_wait_seconds", "How long jobs could have run before a worker claimed them.", ["kind": kind],
        seconds: seconds)
    }
  }

  /// How long attempts took, from the claim to the end, as a whole.
  func took(_ seconds: [Double], kind: String) {
    metrics.observe(
      "take5_job_duration_seconds", "How long attempts at jobs took as a whole.", ["kind": kind], seconds: seconds)
  }

  /// Leases of others that this worker found to be over.
  func reaped(_ jobs: [Reaped]) {
    for job in jobs {
      metrics.count(
        "take5_leases_lost_total", "Jobs taken from lost workers, or past their deadline, by what became of them.",
        ["kind": job.kind, "state": job.state.rawValue])
    }
  }

  func stage(_ stage: String, kind: String, seconds: Double) {
    metrics.observe(
      "take5_stage_duration_seconds", "How long the stages of jobs took.", ["kind": kind, "stage": stage],
      seconds: seconds)
  }
}
