/// The state of one request and its response, without a socket, a thread or a clock.
///
/// The network thread reports what has arrived, and each report returns the next step; the handler reads the body and
/// responds. A waiting connection is woken as soon as `canProceed` is true.
struct RequestState {
  /// The next step of the network thread.
  enum Step {
    /// Receive more from the client.
    case proceed
    /// Wait until `canProceed`.
    case wait
    /// Send the response; `isEarly` if the client may still be sending its body, so that the connection must be closed.
    case respond(Response, isEarly: Bool)
    /// Close the connection.
    case close
  }

  /// The result of a read by the handler.
  enum Read {
    case chunk([UInt8])
    case end
    case failure(BodyError)
    case wait
  }

  private enum Phase { case head, body, received, responded }

  /// The maximum length of a chunk that is joined from smaller ones, in bytes.
  private static let maxJoinedBytes = 16 << 10

  private let limits: Limits
  private let hasBody: Bool
  private var phase = Phase.head
  private var chunks: [[UInt8]] = []
  private var firstChunk = 0
  private var bufferedBytes = 0
  private var receivedBytes: Int64 = 0
  private var isBodyRequested = false
  private var failure: BodyError?
  private var isCut = false
  private var pendingResponse: Response?

  /// The limits of a request, in bytes.
  struct Limits {
    /// The maximum length of the body.
    var body: Int64
    /// The number of unread bytes at which the server stops receiving.
    var buffered: Int
  }

  /// - Parameter hasBody: whether a body follows, or input that must not be parsed as the next request.
  init(hasBody: Bool, limits: Limits) {
    self.hasBody = hasBody
    self.limits = limits
  }

  /// Whether a waiting connection must continue.
  var canProceed: Bool {
    if isCut || pendingResponse != nil { return true }
    return switch phase {
    case .head: isBodyRequested
    case .body: failure == nil && bufferedBytes <= limits.buffered / 2
    case .received, .responded: false
    }
  }

  // MARK: The network thread

  /// The next step after the head.
  mutating func headArrived() -> Step { phase == .head ? resumed() : .close }

  /// The next step after a chunk of the body.
  mutating func arrived(_ chunk: [UInt8]) -> Step {
    receivedBytes += Int64(chunk.count)
    if receivedBytes > limits.body, failure == nil { failure = .tooLarge(limit: limits.body) }
    if failure == nil && pendingResponse == nil { append(chunk) }
    return resumed()
  }

  /// The next step after the end of the request.
  mutating func ended() -> Step {
    if phase != .responded { phase = .received }
    return resumed()
  }

  /// The next step of a connection that was woken.
  mutating func resumed() -> Step {
    if isCut || phase == .responded { return .close }
    // Without a body the end follows immediately: a response after the end does not close the connection.
    if phase == .head && !hasBody {
      phase = .body
      return .proceed
    }
    let isEarly = phase != .received
    if let response = takeResponse() { return .respond(response, isEarly: isEarly) }
    switch phase {
    case .head:
      guard isBodyRequested else { return .wait }
      phase = .body
      return .proceed
    case .body: return failure == nil && bufferedBytes < limits.buffered ? .proceed : .wait
    case .received, .responded: return .wait
    }
  }

  /// Removes and returns the response that has not been sent.
  mutating func takeResponse() -> Response? {
    guard let response = pendingResponse else { return nil }
    pendingResponse = nil
    phase = .responded
    return response
  }

  // MARK: The handler

  /// Whether a read would not wait.
  var canRead: Bool { firstChunk < chunks.count || phase == .received || !hasBody || failure != nil }

  /// Reads the next chunk. Received chunks precede a failure, except that cancellation takes effect immediately.
  mutating func read() -> Read {
    isBodyRequested = true
    if failure == .cancelled { return .failure(.cancelled) }
    if firstChunk < chunks.count {
      let chunk = chunks[firstChunk]
      chunks[firstChunk] = []
      firstChunk += 1
      bufferedBytes -= chunk.count
      if firstChunk > chunks.count / 2 {
        chunks.removeFirst(firstChunk)
        firstChunk = 0
      }
      return .chunk(chunk)
    }
    if phase == .received || !hasBody, failure == nil || failure == .disconnected { return .end }
    return failure.map { .failure($0) } ?? .wait
  }

  /// Sets the response and discards unread chunks; false if there is a response already.
  @discardableResult
  mutating func respond(_ response: Response) -> Bool {
    guard phase != .responded, pendingResponse == nil else { return false }
    pendingResponse = response
    discardChunks()
    return true
  }

  /// Lets further reads fail.
  ///
  /// - Parameter cutting: whether the connection is closed without a response.
  mutating func fail(_ error: BodyError, cutting: Bool) {
    if failure == nil || error == .cancelled { failure = error }
    if cutting { isCut = true }
  }

  /// Closes the connection, unless there is a response.
  mutating func endWithoutResponse() { if phase != .responded && pendingResponse == nil { isCut = true } }

  // Small chunks are joined, because a separate array needs more memory than its bytes.
  private mutating func append(_ chunk: [UInt8]) {
    bufferedBytes += chunk.count
    if firstChunk < chunks.count, chunks[chunks.count - 1].count + chunk.count <= Self.maxJoinedBytes {
      chunks[chunks.count - 1] += chunk
    } else {
      chunks.append(chunk)
    }
  }

  private mutating func discardChunks() {
    chunks.removeAll(keepingCapacity: false)
    firstChunk = 0
    bufferedBytes = 0
  }
}
