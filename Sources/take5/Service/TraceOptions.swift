import Blobs
import Glibc
import HTTPClient
import HTTPServer
import Platform
import Telemetry

/// The traces of a service or a worker, which are sent to a collector by OTLP over HTTP.
enum TraceOptions {
  static let endpoint = Option(
    "--otlp-endpoint", "URL", .service, variable: "OTEL_EXPORTER_OTLP_ENDPOINT",
    help: "collector of OpenTelemetry that receives traces by OTLP over HTTP, such as http://127.0.0.1:4318")
  static let percent = Option(
    "--trace-percent", "N", .integer(0...100), variable: "TAKE5_TRACE_PERCENT", default: "100",
    help: "percentage of requests to trace; a request whose client does not sample its trace is not traced")

  /// The share that `--trace-percent` names, from 0 to 1. It also counts without a collector: the workers may have one.
  static func ratio(_ arguments: Arguments) throws(CommandFailure) -> Double {
    Double(try arguments.number(percent.name) ?? 100) / 100
  }

  /// Starts the tracer that the options name; nil without a collector.
  static func tracer(_ arguments: Arguments, _ metrics: Metrics, _ log: Logger) throws -> Tracer? {
    guard let text = arguments.value(endpoint.name) else { return nil }
    guard let server = ServerAddress(url: text) else {
      throw CommandFailure(.usage, "'\(text)' is not a collector", remedy: "write it as http://HOST:PORT")
    }
    let environment = Environment.variables()
    var configuration = Tracer.Configuration()
    configuration.ratio = try ratio(arguments)
    configuration.version = ThisProcess.version
    configuration.resource = [
      "service.name": .text(environment["OTEL_SERVICE_NAME"] ?? "take5"),
      "service.version": .text(configuration.version),
      "process.pid": .integer(Int(getpid())),
    ]
    let client = HTTPClient(server: server, timeout: 5)
    let headers = headers(environment["OTEL_EXPORTER_OTLP_HEADERS"] ?? "")
    let isFailing = Locked(false)
    return try Tracer(configuration) { body in
      do {
        let request = HTTPRequest("POST", "/v1/traces", headers: headers, body: .bytes(body), timeout: 5)
        let response = try client.send(request)
        guard 200..<300 ~= response.status else { throw HTTPClientError("\(server): status \(response.status)") }
        isFailing.withLock { $0 = false }
      } catch {
        // Once for each time that the collector is away.
        let isNew = isFailing.withLock { isFailing in
          defer { isFailing = true }
          return !isFailing
        }
        if isNew { log.warning("traces cannot be sent and are dropped", ["error": "\(error)"]) }
        throw error
      }
    } onEnd: { spans, areSent in
      metrics.count(
        "take5_spans_total", "Spans of traces, by whether the collector took them.",
        ["result": areSent ? "sent" : "dropped"], by: Double(spans))
    }
  }

  /// The header fields of each request: `name=value` pairs, percent-encoded and separated by commas, as OpenTelemetry has them.
  static func headers(_ text: String) -> [(name: String, value: String)] {
    let pairs = text.split(separator: ",").compactMap { pair -> (name: String, value: String)? in
      let parts = pair.split(separator: "=", maxSplits: 1).map { $0.trimming(while: { $0 == " " }) }
      guard parts.count == 2, let value = RequestTarget.decode(parts[1]) else { return nil }
      return (String(parts[0]), value)
    }
    return [("Content-Type", "application/x-protobuf")] + pairs
  }
}

extension Substring {
  fileprivate func trimming(while isTrimmed: (Character) -> Bool) -> Substring {
    var text = drop(while: isTrimmed)
    while let last = text.last, isTrimmed(last) { text.removeLast() }
    return text
  }
}

extension Tracer {
  /// Records a request that has ended.
  func record(_ record: AccessRecord) {
    guard let context = record.trace, context.isSampled else { return }
    let end = ContinuousClock.now
    let method = record.countedMethod
    self.record(
      Span(
        record.route.map { "\(method) \($0)" } ?? method, .server, context, from: end - record.duration, to: end,
        [
          "http.request.method": .text(method), "http.route": .text(record.route ?? "none"),
          "http.response.status_code": .integer(record.status), "take5.request": .text(record.requestID.description),
        ],
        isError: record.status >= 500))
  }

  /// Records a request to the object store, if it belongs to a trace.
  func record(_ exchange: S3Exchange) {
    guard let scope = TraceScope.current else { return }
    record(
      Span(
        "store \(exchange.operation)", .client, scope.context.child(), from: exchange.start, to: exchange.end,
        ["take5.store.operation": .text(exchange.operation), "take5.store.result": .text(exchange.result.rawValue)],
        isError: [.throttled, .refused, .failed, .unreachable].contains(exchange.result)))
  }
}
