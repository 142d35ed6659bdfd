/// The state of a streamed body, without a socket, a thread or a clock.
///
/// The producer writes and finishes; the network thread reads, and each read returns the next step. A waiting
/// connection is woken as soon as `canProceed` is true.
struct BodyStreamState {
  /// The next step of the network thread.
  enum Step: Hashable {
    /// Send this number of bytes from the buffer.
    case send(Int)
    /// Wait until `canProceed`.
    case wait
    /// End the body.
    case end
    /// Close the connection before the body is complete.
    case close
  }

  private enum Phase { case open, finished, cut, ended }

  private let maxUnsentBytes: Int
  private var phase = Phase.open
  /// The written bytes; the first `readCount` have been sent. Streams that write the same array share its memory.
  private var bytes: [UInt8] = []
  private var readCount = 0
  private var deadline: ContinuousClock.Instant?
  private var lastWrite: ContinuousClock.Instant?
  /// The number of bytes that were passed to the network.
  private(set) var sentBytes: Int64 = 0

  /// - Parameter maxUnsentBytes: the number of bytes that may wait for the client.
  init(maxUnsentBytes: Int) { self.maxUnsentBytes = maxUnsentBytes }

  /// The number of bytes that were not passed to the network yet.
  var unsent: Int { bytes.count - readCount }

  /// Whether nothing more is sent, although the producer may write.
  var hasEnded: Bool { phase == .cut || phase == .ended }

  /// Whether a waiting connection must continue.
  var canProceed: Bool { unsent > 0 || phase != .open }

  /// Whether the connection must be closed before the body is complete.
  var isCut: Bool { phase == .cut }

  // MARK: The producer

  /// Adds bytes; false if the stream has ended or too many bytes are unsent.
  ///
  /// While nothing is unsent, an array of any length is accepted: the client is then not too slow.
  mutating func write(_ more: [UInt8], at now: ContinuousClock.Instant) -> Bool {
    guard phase == .open else { return false }
    guard unsent == 0 || unsent + more.count <= maxUnsentBytes else {
      cut()
      return false
    }
    lastWrite = now
    if unsent == 0 {
      (bytes, readCount) = (more, 0)
    } else {
      // Sent bytes are removed once they outnumber the unsent ones: memory stays within twice the limit.
      if readCount > unsent {
        bytes.removeFirst(readCount)
        readCount = 0
      }
      bytes += more
    }
    return true
  }

  /// Ends the body after the bytes that were written.
  mutating func finish() {
    if phase == .open { phase = .finished }
  }

  // MARK: The network thread

  /// Starts the lifetime and the interval of the heartbeat, at the start of the response.
  mutating func open(at now: ContinuousClock.Instant, until deadline: ContinuousClock.Instant) {
    precondition(self.deadline == nil, "a stream is the body of one response")
    self.deadline = deadline
    lastWrite = now
  }

  /// Moves as many unsent bytes as fit into a buffer.
  mutating func read(into buffer: UnsafeMutableRawBufferPointer) -> Step {
    if phase == .cut || phase == .ended { return .close }
    if unsent == 0 { return phase == .finished ? .end : .wait }
    let count = min(unsent, buffer.count)
    buffer.copyBytes(from: bytes[readCount..<readCount + count])
    readCount += count
    sentBytes += Int64(count)
    if unsent == 0 { discardBytes() }
    return .send(count)
  }

  /// Writes a heartbeat if nothing was written for `silence`, or finishes at the deadline; returns whether it did
  /// either.
  ///
  /// No heartbeat is added while bytes are unsent: sending those detects a disconnected client as well.
  @discardableResult
  mutating func sendHeartbeat(_ heartbeat: [UInt8], at now: ContinuousClock.Instant, after silence: Duration) -> Bool {
    guard phase == .open, let deadline, let lastWrite else { return false }
    if now >= deadline {
      finish()
      return true
    }
    return unsent == 0 && now - lastWrite >= silence && write(heartbeat, at: now)
  }

  /// Requests that the connection is closed before the body is complete.
  mutating func cut() {
    guard phase != .ended else { return }
    phase = .cut
    discardBytes()
  }

  /// Ends the stream; false if it had ended before.
  mutating func end() -> Bool {
    guard phase != .ended else { return false }
    phase = .ended
    discardBytes()
    return true
  }

  private mutating func discardBytes() { (bytes, readCount) = ([], 0) }
}
