import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The events of the user, without an end. The stream reconnects by itself and continues after its last event. It throws a
/// `Take5Error` if the service refuses it for good, and ends with the task that reads it.
///
/// ```swift
/// for try await event in client.events() where event.kind == .windowOpened { showCamera() }
/// ```
public struct EventSequence: AsyncSequence, Sendable {
  /// Reads the events, one after the other.
  public struct AsyncIterator: AsyncIteratorProtocol {
    private let connection: Connection
    private var parser: EventParser
    private var waiting: [UserEvent] = []
    private var chunks: AsyncThrowingStream<Data, any Error>.AsyncIterator?
    private var failures = 0

    init(connection: Connection, last: String?) {
      self.connection = connection
      parser = EventParser(id: last)
    }

    /// The next event, or nil if the task is cancelled.
    public mutating func next() async throws -> UserEvent? {
      while waiting.isEmpty {
        if Task.isCancelled { return nil }
        do throws(Take5Error) {
          waiting = try await read().reversed()
        } catch {
          chunks = nil
          guard error != .cancelled else { return nil }
          // 0: what this client finds without the service.
          if let status = error.status, (400..<500).contains(status) || status == 0, ![408, 429].contains(status) {
            throw error
          }
          failures += 1
          // The service sends a partly received event again.
          parser = EventParser(id: parser.id)
          do { try await Retry.pause(Retry.delay(failures: failures, error)) } catch { return nil }
        }
      }
      return waiting.popLast()
    }

    private mutating func read() async throws(Take5Error) -> [UserEvent] {
      if chunks == nil {
        var request = Request("GET", "/v1/events")
        request.headers["Accept"] = "text/event-stream"
        request.headers["Last-Event-ID"] = parser.id
        // The service sends a comment each 15 seconds.
        request.timeout = 45
        chunks = try await connection.stream(request).makeAsyncIterator()
      }
      let chunk: Data?
      do { chunk = try await chunks?.next() } catch { throw (error as? Take5Error) ?? Connection.error(error) }
      guard let chunk else { throw Task.isCancelled ? .cancelled : .unreachable("The stream has ended.") }
      failures = 0
      return try parser.push(chunk)
    }
  }

  let connection: Connection
  let last: String?

  /// Begins after the last event, or now.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(connection: connection, last: last) }
}
