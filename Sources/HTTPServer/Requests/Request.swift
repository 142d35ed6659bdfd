package import Platform
package import Telemetry

/// A request that its route admitted; the body is read as it arrives.
package struct Request: Sendable {
  package let head: RequestHead
  package let id: RequestID
  /// The address of the client; behind a trusted proxy, the address that the proxy reports.
  package let client: IPAddress
  /// Whether a trusted proxy has sent the request.
  package let isProxied: Bool
  /// The client, as the route's admission returned it.
  package internal(set) var principal: any Principal
  /// The values that the `{name}` segments of the route's template matched.
  package var parameters: [String: String]
  /// The body; it can be read once.
  package let body: RequestBody

  /// The method, case-sensitive, as received.
  package var method: String { head.method }
  package var target: RequestTarget { head.target }
  package var headers: HeaderFields { head.headers }

  /// The span of the request; nil if it is not traced.
  package var trace: TraceContext? { body.context.trace }

  /// Sends an interim response (RFC 9110, section 15.2) before the response. A client of HTTP/1.0 gets none, and none is sent
  /// once the response is.
  package func sendInterim(_ status: Status, _ headers: HeaderFields) { body.context.sendInterim(status, headers) }

  /// Says that the request has succeeded, whatever follows: this is the response if the handler throws, or hangs, from here on.
  package func commit(_ response: Response) { body.context.commit(response) }

  /// The value of the segment `{name}` of the route's template.
  package func parameter(_ name: String) -> String { parameters[name] ?? "" }
}

/// The client of a request, as the application identifies it.
package protocol Principal: Sendable {
  /// The user or the API key that the client has authenticated as: its requests use this share, and not its address's. Nil: it
  /// has not authenticated.
  var shareHolder: ShareHolder? { get }
}

/// The client of a route that admits everyone.
package struct Anonymous: Principal {
  package var shareHolder: ShareHolder? { nil }

  package init() {}
}

/// The body of a request, as a sequence of chunks in the order of their arrival.
///
/// The server stops receiving while `ServerConfiguration.bufferedBytes` are unread, so that memory use stays bounded.
/// Before the first read it receives nothing of the body: a handler that refuses a request because of its head avoids
/// the upload.
package struct RequestBody: AsyncSequence, Sendable {
  package typealias Element = [UInt8]
  package typealias Failure = BodyError

  let context: RequestContext

  package func makeAsyncIterator() -> Iterator { Iterator(context: context) }

  package struct Iterator: AsyncIteratorProtocol {
    let context: RequestContext

    package mutating func next() async throws(BodyError) -> [UInt8]? { try await context.nextChunk() }

    package mutating func next(isolation actor: isolated (any Actor)?) async throws(BodyError) -> [UInt8]? {
      try await context.nextChunk()
    }
  }

  /// Closes the connection without a response, as if the client had closed it: the reader gets what has arrived, and then fails.
  package func cancel() { context.fail(.disconnected, cutting: true) }

  /// When the head of the request had arrived.
  package var arrival: ContinuousClock.Instant { context.start }

  /// Reads the complete body; for small bodies such as JSON.
  package func collect(upTo limit: Int) async throws(BodyError) -> [UInt8] {
    var bytes: [UInt8] = []
    var iterator = makeAsyncIterator()
    while let chunk = try await iterator.next() {
      guard bytes.count + chunk.count <= limit else { throw .tooLarge(limit: Int64(limit)) }
      bytes += chunk
    }
    return bytes
  }
}
