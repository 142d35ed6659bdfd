import Blobs
import Telemetry

extension Metrics {
  /// Counts a request to the object store.
  func count(_ exchange: S3Exchange) {
    observe(
      "take5_store_request_duration_seconds", "Time of a request to the object store, with its body.",
      ["operation": exchange.operation, "result": exchange.result.rawValue], .request,
      seconds: exchange.start.duration(to: exchange.end) / .seconds(1))
  }
}
