internal import HTTPServer
internal import Metrics
internal import Model
internal import Postgres
internal import Queue

/// What this process counts of itself, and how the queue stands, for Prometheus.
extension ControlAPI {
  var metricRoutes: [Route] { [route("GET", "/metrics", handler: readMetrics)] }

  private func readMetrics(_ request: Request) async throws -> Response {
    let depths = try await database.run { try JobQueue.depths($0) }
    var gauges: [MetricGauge] = []
    for depth in depths {
      gauges.append(
        MetricGauge(
          "take5_queue_jobs", "Jobs that are not over, and dead ones.",
          ["queue": depth.queue, "kind": depth.kind, "state": depth.state.rawValue], Double(depth.jobs)))
      if depth.state == .available {
        gauges.append(
          MetricGauge(
            "take5_queue_oldest_age_seconds", "How long the job that waits longest has waited.",
            ["queue": depth.queue, "kind": depth.kind], depth.oldestSeconds))
      }
    }
    return Response(
      .ok, headers: ["Content-Type": "text/plain; version=0.0.4; charset=utf-8", "Cache-Control": "no-store"],
      body: .bytes(Array(metrics.text(with: gauges).utf8)))
  }

  /// Counts a submission that was taken in; one that was only repeated is none.
  func countSubmission(_ kind: String, bytes: Int64, _ response: Response) {
    guard response.headers["Idempotency-Replayed"] == nil else { return }
    metrics.count("take5_submissions_total", "Submissions that were taken in.", ["kind": kind])
    metrics.count("take5_upload_bytes_total", "Bytes of media that were taken in.", ["kind": kind], by: Double(bytes))
  }
}
