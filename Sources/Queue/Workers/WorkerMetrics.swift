import Model
import Telemetry

/// The metrics of a worker.
struct WorkerMetrics: Sendable {
  private let metrics: Metrics

  init(_ metrics: Metrics) { self.metrics = metrics }

  func listeningSession(_ log: Logger) -> ListeningSession { ListeningSession(of: "worker", log, metrics) }

  /// Begins the counters of kinds of jobs at 0: of one that begins with its first event, `increase` does not see that event.
  func begin(_ kinds: [String]) {
    for kind in kinds {
      for outcome in ["accepted", "rejected", "cancelled", "retried", "dead", "released", "lost"] {
        end(kind: kind, outcome: outcome, count: 0)
      }
      for state in [JobState.scheduled, .dead, .cancelled] { reaped(kind: kind, state, count: 0) }
    }
  }

  /// - Parameter outcome: `accepted`, `rejected`, `cancelled`, `retried`, `dead`, `released` or `lost`.
  func end(kind: String, outcome: String, count: Int = 1) {
    metrics.count(
      "take5_jobs_total", "Attempts at jobs, by outcome.", ["kind": kind, "outcome": outcome], by: Double(count))
  }

  func quarantined(kind: String, _ code: ReasonCode) {
    metrics.count(
      "take5_quarantined_total", "Inputs that were quarantined, by the reason code of their crashes.",
      ["kind": kind, "code": code.rawValue])
  }

  func pause(_ queue: String, _ isPaused: Bool) {
    metrics.set(
      "take5_queue_paused", "Whether the worker has paused a queue because it cannot serve it.", ["queue": queue],
      isPaused ? 1 : 0)
  }

  func claimed(_ jobs: [ClaimedJob]) {
    for job in jobs {
      metrics.observe(
        "take5_job_wait_seconds", "Time from when a job could run to its claim.", ["kind": job.kind],
        seconds: job.waitedSeconds)
    }
  }

  /// - Parameter seconds: from the submission of the job to the commit of its effect.
  func ready(_ seconds: Double, kind: String) {
    metrics.observe(
      "take5_time_to_ready_seconds", "Time from the submission of what a job makes ready to its publication.",
      ["kind": kind], .wait, seconds: seconds)
  }

  func took(_ seconds: Double, kind: String) {
    metrics.observe(
      "take5_job_duration_seconds", "Time of an attempt, from its claim to its end.", ["kind": kind],
      seconds: seconds)
  }

  func reaped(_ jobs: [Reaped]) {
    for job in jobs { reaped(kind: job.kind, job.state, count: 1) }
  }

  private func reaped(kind: String, _ state: JobState, count: Int) {
    metrics.count(
      "take5_leases_lost_total", "Jobs taken from lost workers or past their deadline, by their new state.",
      ["kind": kind, "state": state.rawValue], by: Double(count))
  }

  func setAside(_ table: String, rows: Int) {
    metrics.count(
      "take5_rows_set_aside_total", "Rows that were set aside for an hour because a value cannot be used.",
      ["table": table], by: Double(rows))
  }

  func stage(_ stage: String, kind: String, seconds: Double) {
    metrics.observe(
      "take5_stage_duration_seconds", "Time of a stage of a job.", ["kind": kind, "stage": stage],
      seconds: seconds)
  }
}
