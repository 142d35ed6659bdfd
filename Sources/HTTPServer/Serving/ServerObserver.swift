package import Platform
package import Telemetry

/// The callbacks of a server, which are called on its threads and must not block.
package struct ServerObserver: Sendable {
  /// Called when a request has ended.
  package var onAccess: @Sendable (AccessRecord) -> Void
  /// Called when a handler throws an error that is not a problem; the response is 500.
  package var onFailure: @Sendable (any Error, Request) -> Void
  /// Called with the cause when a handler throws a problem that has one.
  package var onOutage: @Sendable (String, Request) -> Void
  /// Called when a limit refuses a connection, a request or a stream, with the client.
  package var onRefusal: @Sendable (Refusal, ShareHolder) -> Void
  /// Returns the span of a request that begins; nil if the request is not traced.
  package var trace: @Sendable (RequestHead) -> TraceContext?

  package init(
    onAccess: @escaping @Sendable (AccessRecord) -> Void = { _ in },
    onFailure: @escaping @Sendable (any Error, Request) -> Void = { _, _ in },
    onOutage: @escaping @Sendable (String, Request) -> Void = { _, _ in },
    onRefusal: @escaping @Sendable (Refusal, ShareHolder) -> Void = { _, _ in },
    trace: @escaping @Sendable (RequestHead) -> TraceContext? = { _ in nil }
  ) {
    self.onAccess = onAccess
    self.onFailure = onFailure
    self.onOutage = onOutage
    self.onRefusal = onRefusal
    self.trace = trace
  }
}

/// One finished request, for the access log.
package struct AccessRecord: Sendable {
  package let requestID: RequestID
  /// The method; empty if the request line is invalid.
  package let method: String
  /// The path without the query, which may contain secrets.
  package let path: String
  /// The template of the route, such as `/v1/posts/{id}`; nil if there is none.
  package let route: String?
  /// The address of the client; behind a trusted proxy, the address that the proxy reports.
  package let client: IPAddress
  /// The status of the response; 499 if the client disconnected before it.
  package let status: Int
  /// The length of the response body in bytes, even if the client did not receive all of it.
  package let bytes: Int64
  /// The time from the end of the head to the end of the response.
  package let duration: Duration
  /// Whether the complete response was sent.
  package let isComplete: Bool
  /// The span of the request; nil if it is not traced.
  package let trace: TraceContext?

  /// The duration in milliseconds.
  package var milliseconds: Double {
    let (seconds, attoseconds) = duration.components
    return Double(seconds) * 1e3 + Double(attoseconds) / 1e15
  }
}

/// The current load of a server.
package struct ServerLoad: Sendable, Hashable {
  /// The number of open connections.
  package let connections: Int
  /// The number of requests whose response is not complete.
  package let requests: Int
  /// The number of streamed responses.
  package let streams: Int
}
