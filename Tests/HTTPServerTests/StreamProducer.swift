import HTTPServer
import HTTPTesting
import Platform

/// Responds to `GET /events` with streams to which a test writes from its own thread, and counts ended streams.
final class StreamProducer: Sendable {
  /// The streams that have ended. The producer refers to its streams, and they refer to this object alone.
  private final class Ends: Sendable {
    let count = Locked(0)
    let change: Event

    init() throws { change = try Event() }
  }

  private let streams = Channel<BodyStream>(capacity: 1024)
  private let ends: Ends
  private let lifetime: Duration

  init(lifetime: Duration = BodyStream.maxLifetime) throws {
    ends = try Ends()
    self.lifetime = lifetime
  }

  var router: Router {
    Router(routes: [
      Route("GET", "/events", admission: Route.open) { _ in
        Response(.ok, headers: ["Content-Type": "text/event-stream"], body: .stream(self.makeStream()))
      },
      Route("POST", "/late", bodyLimit: 1 << 20, admission: Route.open) { request in
        let stream = self.makeStream()
        _ = try? await request.body.collect(upTo: 1 << 20)
        return Response(.ok, body: .stream(stream))
      },
      Route("GET", "/hello", admission: Route.open) { _ in Response(.ok, body: .bytes(Array("hello".utf8))) },
    ])
  }

  /// The next stream that a handler has created; nil if there is none.
  func next() -> BodyStream? { streams.takeIfReady() }

  /// The number of calls of `onEnd` by all streams.
  var endCount: Int { ends.count.withLock { $0 } }

  /// Waits until this number of streams has ended; false after 30 seconds.
  func waitForEnds(_ count: Int) -> Bool {
    // Ends: by the timeout of each wait.
    while endCount < count {
      ends.change.clear()
      if endCount < count, !ends.change.wait(for: .seconds(30)) { return false }
    }
    return true
  }

  private func makeStream() -> BodyStream {
    let stream = BodyStream(lifetime: lifetime) { [ends] _ in
      ends.count.withLock { $0 += 1 }
      ends.change.signal()
    }
    _ = streams.put(stream)
    return stream
  }
}

/// A connection that has requested `/events`. It is a class, so that a test can store many in an array; one thread uses
/// it.
final class StreamClient {
  var connection: ClientConnection
  /// The head of the response.
  let response: ClientResponse

  /// Sends the request and receives the head of the response.
  init(port: UInt16, method: String = "GET", version: String = "HTTP/1.1") throws {
    connection = try ClientConnection(port: port)
    try connection.send("\(method) /events \(version)\r\nHost: x\r\n\r\n")
    response = try connection.receive(toHead: true)
  }

  /// The next chunk as text; nil at the end of the body.
  func receiveChunk() throws -> String? {
    try connection.receiveChunk().map { String(decoding: $0, as: UTF8.self) }
  }

  /// Whether the connection carries another request, for `/hello`.
  func isUsable() throws -> Bool {
    try connection.send("GET /hello HTTP/1.1\r\nHost: x\r\n\r\n")
    return try connection.receive().text == "hello"
  }
}
