import HTTPServer
import Platform

/// Answers `GET /events` with streams that a test writes to from a thread of its own, and counts those that ended.
final class StreamProducer: Sendable {
  private let streams = Channel<BodyStream>(capacity: 1024)
  private let ended = Locked(0)
  private let change: Event
  private let deadline: Duration

  init(deadline: Duration = BodyStream.maxDeadline) throws {
    change = try Event()
    self.deadline = deadline
  }

  var router: Router {
    Router(routes: [
      Route("GET", "/events") { _ in
        Response(.ok, headers: ["Content-Type": "text/event-stream"], body: .stream(self.makeStream()))
      },
      Route("POST", "/late", bodyLimit: 1 << 20) { request in
        let stream = self.makeStream()
        _ = try? await request.body.collect(upTo: 1 << 20)
        return Response(.ok, body: .stream(stream))
      },
      Route("GET", "/hello") { _ in Response(.ok, body: .bytes(Array("hello".utf8))) },
    ])
  }

  /// The stream of an answer that has begun.
  func next() -> BodyStream? { streams.takeIfReady() }

  /// How many streams ended, counted as often as they said so.
  var endCount: Int { ended.withLock { $0 } }

  /// Waits until so many have ended; false if they do not.
  func waitForEnds(_ count: Int) -> Bool {
    while endCount < count {
      change.clear()
      if endCount < count, !change.wait(for: .seconds(30)) { return false }
    }
    return true
  }

  private func makeStream() -> BodyStream {
    let stream = BodyStream(deadline: deadline) { [self] _ in
      ended.withLock { $0 += 1 }
      change.signal()
    }
    _ = streams.put(stream)
    return stream
  }
}
