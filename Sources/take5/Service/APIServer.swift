import HTTPServer
import Kit
import Platform
import Rooms
import Telemetry

/// The HTTP server of the API, with its log and metrics.
enum APIServer {
  /// Checks that a server can listen on an address, before anything is created for it; status 69 if not.
  static func check(_ address: ListenAddress, named text: String) throws(CommandFailure) {
    do throws(ServerError) { _ = try ListeningSocket(host: address.host, port: address.port) } catch {
      throw CommandFailure(
        error, listeningOn: text, "--listen", owner: ListeningProcess.find(port: address.port))
    }
  }

  /// Binds and listens, and serves by `router` until it gets other routes; status 69 if the address is in use or not available on this machine.
  static func listen(
    _ configuration: ServerConfiguration, router: Router, log: Logger, metrics: Metrics, refusals: RefusalLog,
    tracer: Tracer?, traceRatio: Double
  ) throws(CommandFailure) -> Server {
    let observer = ServerObserver(
      onAccess: { record in
        metrics.count(
          "take5_http_requests_total", "Requests by route and status.",
          ["method": record.countedMethod, "route": record.route ?? "none", "status": "\(record.status)"])
        metrics.observe(
          "take5_http_request_duration_seconds", "Time from the head of a request to the end of its response.",
          ["method": record.countedMethod, "route": record.route ?? "none"], seconds: record.milliseconds / 1000)
        tracer?.record(record)
        log.info(
          "request",
          [
            "method": record.method, "path": record.loggedPath, "status": "\(record.status)",
            "bytes": "\(record.bytes)",
            "milliseconds": "\(Int(record.milliseconds.rounded()))", "request": record.requestID.description,
            "client": record.client.description,
          ])
      },
      onFailure: { error, request in
        log.error("a request failed", ["error": "\(error)", "request": request.id.description])
      },
      onOutage: { cause, request in
        log.warning("a request met an outage", ["error": cause, "request": request.id.description])
      },
      onRefusal: { refusal, client in refusals.report(refusal.rawValue, client: client.description) },
      // The span of a request is in the trace of its client, or begins one. Without a tracer a job keeps the trace of its client all the same:
      // its worker may have one.
      trace: { head in
        let client = head.headers[TraceContext.headerName].flatMap { TraceContext($0) }?.limited(to: traceRatio)
        return tracer.map { $0.begin(in: client) } ?? client
      })
    do {
      let server = try Server(configuration: configuration, router: router, observer: observer)
      metrics.measure { [weak server] in server.map { gauges($0.load) } ?? [] }
      return server
    } catch {
      throw CommandFailure(.unavailable, "\(error)", remedy: "choose another address with --listen")
    }
  }

  private static func gauges(_ load: ServerLoad) -> [MetricGauge] {
    [
      MetricGauge("take5_http_connections", "Open connections of clients.", [:], Double(load.connections)),
      MetricGauge(
        "take5_http_requests_in_flight", "Requests whose responses are not complete.", [:], Double(load.requests)),
      MetricGauge("take5_http_streams", "Responses that are streamed.", [:], Double(load.streams)),
    ]
  }
}

extension AccessRecord {
  /// The path without the token of a device, which addresses a phone; of a long one the beginning, so that a few clients do not fill the log.
  var loggedPath: String {
    let segments = path.split(separator: "/", maxSplits: 4)
    let isOfDevice = segments.count == 5 && segments[3] == "devices"
    let logged = isOfDevice ? "/" + segments.dropLast().joined(separator: "/") + "/…" : path
    return logged.utf8.count <= 256 ? logged : String(decoding: logged.utf8.prefix(256), as: UTF8.self) + "…"
  }

  /// The method as a label. Unknown methods share one label, so that clients cannot create time series.
  var countedMethod: String {
    ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"].contains(method) ? method : "other"
  }
}

/// Counts and logs requests that a limit refuses.
final class RefusalLog: Sendable {
  /// The limit of concurrent submissions and parts of uploads.
  static let uploads = "uploads"

  private let log: Logger
  private let metrics: Metrics
  private let limiter = Locked(LineLimiter())

  init(log: Logger, metrics: Metrics) {
    self.log = log
    self.metrics = metrics
    let limits = Refusal.allCases.map(\.rawValue) + RateLimits.Limit.allCases.map(\.rawValue) + [Self.uploads]
    for limit in limits { count(limit, by: 0) }
  }

  private func count(_ limit: String, by count: Double = 1) {
    metrics.count(
      "take5_http_refused_total", "Connections, requests, streams and submissions that a limit refused.",
      ["limit": limit], by: count)
  }

  /// Counts a refusal, and logs it if the client has no line for this limit yet.
  ///
  /// - Parameters:
  ///   - limit: the name of the limit.
  ///   - client: the address, the key or the author.
  func report(_ limit: String, client: String) {
    count(limit)
    guard limiter.withLock({ $0.admits(limit, client, at: .now) }) else { return }
    log.warning("limit exceeded", ["limit": limit, "client": client])
  }

  /// Logs that a proxy forwards requests although the service has no API key. These requests are refused. A proxy that
  /// adds no header cannot be recognized: through it, every client would have full access.
  func reportProxy(at client: String) {
    guard limiter.withLock({ $0.admits("proxy", client, at: .now) }) else { return }
    log.warning(
      "requests come through a proxy, and the service has no API key",
      ["client": client, "remedy": "create a key with 'take5 keys create', and name the proxy with --trusted-proxy"])
  }

  /// Limits the lines of the log, so that many refused clients do not fill it.
  struct LineLimiter {
    /// In this time each client gets one line for each limit.
    static let interval = Duration.seconds(10)
    /// The maximum number of lines in that time.
    static let maxLines = 100

    private var logged: Set<[String]> = []
    private var start: ContinuousClock.Instant?

    /// Whether a refusal at this time gets a line.
    mutating func admits(_ limit: String, _ client: String, at now: ContinuousClock.Instant) -> Bool {
      if start.map({ now - $0 >= Self.interval }) ?? true { (logged, start) = ([], now) }
      return logged.count < Self.maxLines && logged.insert([limit, client]).inserted
    }
  }
}
