/// What one request and its answer have come to: every decision of an exchange, without a socket, a thread or a clock.
///
/// The network side reports what arrived and is told what to do; the handler's side reads, answers or gives up. A
/// connection that waits is woken as soon as `canProceed` holds.
struct ExchangeState {
  /// What the network side does next.
  enum Step {
    /// Take more from the client.
    case proceed
    /// Leave the connection alone until `canProceed`.
    case wait
    /// Send this; `isEarly` when the client may still be sending its body, so that the connection ends with it.
    case answer(Response, isEarly: Bool)
    /// Cut the connection.
    case close
  }

  /// What the handler's side finds when it reads.
  enum Read {
    case chunk([UInt8])
    case end
    case failure(BodyError)
    case wait
  }

  private enum Phase { case head, body, received, answered }

  private static let maxJoined = 16 << 10

  private let limits: Limits
  private let hasBody: Bool
  private var phase = Phase.head
  private var chunks: [[UInt8]] = []
  private var firstChunk = 0
  private var bufferedBytes = 0
  private var receivedBytes: Int64 = 0
  private var isBodyWanted = false
  private var failure: BodyError?
  private var isCut = false
  private var pendingAnswer: Response?

  /// What bounds an exchange, in bytes.
  struct Limits {
    /// The whole body.
    var body: Int64
    /// Waiting for the handler.
    var buffered: Int
  }

  /// - Parameter hasBody: whether a body follows, or something that must not be read as the next request.
  init(hasBody: Bool, limits: Limits) {
    self.hasBody = hasBody
    self.limits = limits
  }

  /// Whether a connection that waits has something to do.
  var canProceed: Bool {
    if isCut || pendingAnswer != nil { return true }
    return switch phase {
    case .head: isBodyWanted
    case .body: failure == nil && bufferedBytes <= limits.buffered / 2
    case .received, .answered: false
    }
  }

  // MARK: The network side

  /// The head is there.
  mutating func headArrived() -> Step { phase == .head ? resumed() : .close }

  /// Bytes of the body are there.
  mutating func arrived(_ chunk: [UInt8]) -> Step {
    receivedBytes += Int64(chunk.count)
    if receivedBytes > limits.body, failure == nil { failure = .tooLarge(limit: limits.body) }
    if failure == nil && pendingAnswer == nil {
      park(chunk)
    }
    return resumed()
  }

  /// The request has come to its end.
  mutating func ended() -> Step {
    if phase != .answered { phase = .received }
    return resumed()
  }

  /// A connection that waited was woken.
  mutating func resumed() -> Step {
    if isCut || phase == .answered { return .close }
    // Without a body the end follows at once: an answer given there lets the connection live on.
    if phase == .head && !hasBody {
      phase = .body
      return .proceed
    }
    let isEarly = phase != .received
    if let answer = takeAnswer() { return .answer(answer, isEarly: isEarly) }
    switch phase {
    case .head:
      guard isBodyWanted else { return .wait }
      phase = .body
      return .proceed
    case .body: return failure == nil && bufferedBytes < limits.buffered ? .proceed : .wait
    case .received, .answered: return .wait
    }
  }

  /// The answer that waits to be sent.
  mutating func takeAnswer() -> Response? {
    guard let answer = pendingAnswer else { return nil }
    pendingAnswer = nil
    phase = .answered
    return answer
  }

  // MARK: The handler's side

  /// The next bytes; what has arrived is read before a failure is told, except that nobody reads on when cancelled.
  mutating func read() -> Read {
    isBodyWanted = true
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

  /// The handler has answered; what it did not read is thrown away. False if there is an answer already.
  @discardableResult
  mutating func answer(_ response: Response) -> Bool {
    guard phase != .answered, pendingAnswer == nil else { return false }
    pendingAnswer = response
    forgetChunks()
    return true
  }

  /// The body will not be read to its end.
  ///
  /// - Parameter cutting: whether the connection is to be closed without an answer.
  mutating func fail(_ error: BodyError, cutting: Bool) {
    if failure == nil || error == .cancelled { failure = error }
    if cutting { isCut = true }
  }

  /// The handler gave up because the client is gone: without an answer, if there is none.
  mutating func giveUp() { if phase != .answered && pendingAnswer == nil { isCut = true } }

  /// Small chunks are joined: each that stands alone costs more memory than its bytes.
  private mutating func park(_ chunk: [UInt8]) {
    bufferedBytes += chunk.count
    if firstChunk < chunks.count, chunks[chunks.count - 1].count + chunk.count <= Self.maxJoined {
      chunks[chunks.count - 1] += chunk
    } else {
      chunks.append(chunk)
    }
  }

  private mutating func forgetChunks() {
    chunks.removeAll(keepingCapacity: false)
    firstChunk = 0
    bufferedBytes = 0
  }
}
