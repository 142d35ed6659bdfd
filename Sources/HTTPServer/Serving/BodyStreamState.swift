/// What a streamed body has come to: every decision of it, without a socket, a thread or a clock.
///
/// The producer writes and finishes; the network side reads and is told what to do. A connection that waits is woken
/// as soon as `canProceed` holds.
struct BodyStreamState {
  /// What the network side does next.
  enum Step: Hashable {
    /// Send so many bytes, which are in the buffer.
    case send(Int)
    /// Leave the connection alone until `canProceed`.
    case wait
    /// End the body in order.
    case end
    /// Cut the connection.
    case close
  }

  private enum Phase { case open, finished, cut, ended }

  private let maxWaiting: Int
  private var phase = Phase.open
  /// What was written; its first `taken` bytes have been sent. An event that many streams share is held once.
  private var bytes: [UInt8] = []
  private var taken = 0
  private var deadline: ContinuousClock.Instant?
  private var lastWrite: ContinuousClock.Instant?
  /// How many bytes the network took.
  private(set) var sentBytes: Int64 = 0

  /// - Parameter maxWaiting: bytes that may wait for the client.
  init(maxWaiting: Int) { self.maxWaiting = maxWaiting }

  private var waiting: Int { bytes.count - taken }

  /// Whether a connection that waits has something to do.
  var canProceed: Bool { waiting > 0 || phase != .open }

  /// Whether the connection is to be closed with the body unfinished.
  var isCut: Bool { phase == .cut }

  // MARK: The producer

  /// Whether the bytes are taken. Something too long is taken while nothing waits: no client is too slow for that.
  mutating func write(_ more: [UInt8], at now: ContinuousClock.Instant) -> Bool {
    guard phase == .open else { return false }
    guard waiting == 0 || waiting + more.count <= maxWaiting else {
      cut()
      return false
    }
    lastWrite = now
    if waiting == 0 {
      (bytes, taken) = (more, 0)
    } else {
      // What has been sent goes before it outgrows what waits: memory stays within twice the limit.
      if taken > waiting {
        bytes.removeFirst(taken)
        taken = 0
      }
      bytes += more
    }
    return true
  }

  /// Nothing more will be written.
  mutating func finish() {
    if phase == .open { phase = .finished }
  }

  // MARK: The network side

  /// The answer begins, and with it the time of silence.
  mutating func open(at now: ContinuousClock.Instant, until deadline: ContinuousClock.Instant) {
    precondition(self.deadline == nil, "a stream is the body of one answer")
    self.deadline = deadline
    lastWrite = now
  }

  /// Moves what fits into a buffer.
  mutating func read(into buffer: UnsafeMutableRawBufferPointer) -> Step {
    if phase == .cut || phase == .ended { return .close }
    if waiting == 0 { return phase == .finished ? .end : .wait }
    let count = min(waiting, buffer.count)
    buffer.copyBytes(from: bytes[taken..<taken + count])
    taken += count
    sentBytes += Int64(count)
    if waiting == 0 { forgetBytes() }
    return .send(count)
  }

  /// Writes a heartbeat after a silence, and finishes at the deadline; whether it did either.
  ///
  /// While something waits, the client is known to be slow and not known to be gone: nothing is added then.
  @discardableResult
  mutating func beat(_ heartbeat: [UInt8], at now: ContinuousClock.Instant, after silence: Duration) -> Bool {
    guard phase == .open, let deadline, let lastWrite else { return false }
    if now >= deadline {
      finish()
      return true
    }
    return waiting == 0 && now - lastWrite >= silence && write(heartbeat, at: now)
  }

  /// The client is given up.
  mutating func cut() {
    guard phase != .ended else { return }
    phase = .cut
    forgetBytes()
  }

  /// The answer is over; whether it was not before.
  mutating func end() -> Bool {
    guard phase != .ended else { return false }
    phase = .ended
    forgetBytes()
    return true
  }

  private mutating func forgetBytes() { (bytes, taken) = ([], 0) }
}
