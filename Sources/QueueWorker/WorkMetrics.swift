import Metrics

/// What a worker counts: jobs by how they ended, and how long each stage took.
struct WorkMetrics: Sendable {
  private let metrics: Metrics

  init(_ metrics: Metrics) { self.metrics = metrics }

  /// - Parameter outcome: `accepted`, `rejected`, `cancelled`, `retried`, `dead`, `released` or `lost`.
  func end(kind: String, outcome: String) {
    metrics.count("take5_jobs_total", "Attempts at jobs by how they ended.", ["kind": kind, "outcome": outcome])
  }

  func stage(_ stage: String, kind: String, seconds: Double) {
    metrics.observe(
      "take5_stage_duration_seconds", "How long the stages of jobs took.", ["kind": kind, "stage": stage],
      seconds: seconds)
  }
}
