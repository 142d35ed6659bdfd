import ControlAPI
import HTTPServer
import Logging
import Metrics

/// The HTTP server with the API behind it and the log beside it.
enum APIServer {
  /// Binds and listens; status 69 if the address is taken or is not this machine's.
  static func listen(on address: ListenAddress, api: ControlAPI, log: Logger, metrics: Metrics) throws(CommandFailure)
    -> Server
  {
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
          ])
      },
      onFailure: { error, request in
        log.error("a request failed", ["error": "\(error)", "request": request.id.description])
      })
    do {
      return try Server(
        configuration: ServerConfiguration(host: address.host, port: address.port), router: api.router,
        observer: observer)
    } catch {
      throw CommandFailure(.unavailable, "\(error)", remedy: "choose another address with --listen")
    }
  }
}

extension AccessRecord {
  /// Methods that are none would make a time series each.
  fileprivate var countedMethod: String {
    ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"].contains(method) ? method : "other"
  }
}
