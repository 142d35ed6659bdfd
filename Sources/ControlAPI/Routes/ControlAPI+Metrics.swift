internal import HTTPServer
internal import Metrics
internal import Model
internal import Postgres
internal import Queue

/// What this process counts of itself, and how the queue stands, for Prometheus.
extension ControlAPI {
  var metricRoutes: [Route] { [route("GET", "/metrics", needs: [.admin], handler: readMetrics)] }

  private func readMetrics(_ request: Request) async throws -> Response {
    // A database that is away takes away what it would tell, and not what this process has counted.
    let gauges = (try? await database.run { try QueueGauges.measure($0) })
    let isUp = MetricGauge("take5_database_up", "Whether the database answers.", [:], gauges == nil ? 0 : 1)
    return Response(
      .ok, headers: ["Content-Type": "text/plain; version=0.0.4; charset=utf-8", "Cache-Control": "no-store"],
      body: .bytes(Array(metrics.text(with: (gauges ?? []) + [isUp]).utf8)))
  }

  /// Counts a submission that was taken in; one that was only repeated is none.
  func countSubmission(_ kind: String, bytes: Int64, _ response: Response) {
    guard response.headers["Idempotency-Replayed"] == nil else { return }
    metrics.count("take5_submissions_total", "Submissions that were taken in.", ["kind": kind])
    metrics.count("take5_upload_bytes_total", "Bytes of media that were taken in.", ["kind": kind], by: Double(bytes))
  }
}
