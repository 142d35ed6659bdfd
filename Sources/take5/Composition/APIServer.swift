import ControlAPI
import HTTPServer
import Logging
import Metrics
import Platform

/// The HTTP server with the API behind it and the log beside it.
enum APIServer {
  /// Binds and listens; status 69 if the address is taken or is not this machine's.
  static func listen(
    _ configuration: ServerConfiguration, api: ControlAPI, log: Logger, metrics: Metrics, refusals: RefusalReport
  ) throws(CommandFailure) -> Server {
    let observer = ServerObserver(
      onAccess: { record in
        metrics.count(
          "take5_http_requests_total", "Requests by route and status.",
          ["method": record.countedMethod, "route": record.route ?? "none", "status": "\(record.status)"])
        metrics.observe(
          "take5_http_request_duration_seconds", "From the head of a request to the end of its answer.",
          ["route": record.route ?? "none"], seconds: record.milliseconds / 1000)
        log.info(
          "request",
          [
            "method": record.method, "path": record.path, "status": "\(record.status)", "bytes": "\(record.bytes)",
            "milliseconds": "\(Int(record.milliseconds.rounded()))", "request": record.requestID.description,
            "client": record.client.description,
          ])
      },
      onFailure: { error, request in
        log.error("a request failed", ["error": "\(error)", "request": request.id.description])
      },
      onRefusal: { refusal, client in refusals.tell(refusal.rawValue, of: client.description) })
    do {
      let server = try Server(configuration: configuration, router: api.router, observer: observer)
      metrics.measure { [weak server] in server.map { gauges($0.load) } ?? [] }
      return server
    } catch {
      throw CommandFailure(.unavailable, "\(error)", remedy: "choose another address with --listen")
    }
  }

  private static func gauges(_ load: ServerLoad) -> [MetricGauge] {
    [
      MetricGauge("take5_http_connections", "Open connections of clients.", [:], Double(load.connections)),
      MetricGauge("take5_http_requests_in_flight", "Requests whose answers are not out.", [:], Double(load.requests)),
      MetricGauge("take5_http_streams", "Answers that are produced over time.", [:], Double(load.streams)),
    ]
  }
}

extension AccessRecord {
  /// Methods that are none would make a time series each.
  fileprivate var countedMethod: String {
    ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"].contains(method) ? method : "other"
  }
}
