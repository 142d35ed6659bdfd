import Glibc
import Platform

/// A connection to a server, from connect(2) to its end.
final class Connection {
  private enum State {
    case connecting
    case handshaking
    case established
    case closed(String)
  }

  let key: UInt64
  let session: HTTP2Session
  private let socket: TLSSocket
  private var state = State.connecting
  private var output: [UInt8] = []
  private var written = 0
  private var interest = EventPoll.Condition.writable
  private(set) var lastReceived = ContinuousClock.now
  /// Whether the server has responded to a request.
  var hasResponded = false
  /// When the last exchange ended, or the connection started.
  var idleSince = ContinuousClock.now

  init(
    _ address: SocketAddress, _ context: borrowing TLSContext, host: String, key: UInt64, poll: borrowing EventPoll
  ) throws(PushError) {
    do throws(SystemError) {
      let descriptor = try address.connected()
      try poll.add(descriptor.number, key: key, for: interest)
      socket = try TLSSocket(descriptor, context, host: host)
    } catch {
      throw PushError(.unavailable, "\(error)")
    }
    session = try HTTP2Session()
    self.key = key
  }

  /// Why it is closed; nil while it is not.
  var problem: String? {
    if case .closed(let problem) = state { problem } else { nil }
  }

  /// Whether the server has sent its settings, so that the connection is of use.
  var isReady: Bool { session.events.isReady }

  /// Continues with what the socket is ready for.
  func proceed(_ poll: borrowing EventPoll) {
    if case .connecting = state {
      var (code, size) = (Int32(0), socklen_t(MemoryLayout<Int32>.size))
      getsockopt(socket.descriptor.number, SOL_SOCKET, SO_ERROR, &code, &size)
      guard code == 0 else { return close(String(cString: strerror(code))) }
      state = .handshaking
    }
    if case .handshaking = state {
      switch socket.handshake() {
      case .waits(let condition): return wait(for: condition, poll)
      case .closed: return close(socket.problem)
      case .moved:
        guard socket.isHTTP2 else { return close("the server has no HTTP/2") }
        state = .established
      }
    }
    receive()
    flush(poll)
  }

  /// Sends what the session has to send, as far as the socket takes it.
  func flush(_ poll: borrowing EventPoll) {
    guard case .established = state else { return }
    while true {
      if written == output.count {
        (output, written) = ([], 0)
        guard session.send(to: &output) else { return close("no memory for HTTP/2") }
        guard !output.isEmpty else { break }
      }
      switch output[written...].withUnsafeBytes({ socket.write($0) }) {
      case .moved(let count): written += count
      case .waits(let condition): return wait(for: [.readable, condition], poll)
      case .closed: return close("the connection was lost")
      }
    }
    if session.isFinished { return close("the server has closed the connection") }
    wait(for: .readable, poll)
  }

  func close(_ problem: String) {
    guard self.problem == nil else { return }
    state = .closed(problem)
    session.events.endAll(problem)
  }

  private func receive() {
    withUnsafeTemporaryAllocation(byteCount: 1 << 14, alignment: 16) { buffer in
      // Not all that arrives, so that no server keeps the thread to itself; the socket stays readable.
      for _ in 0..<16 where problem == nil {
        switch socket.read(into: buffer) {
        case .moved(let count):
          lastReceived = .now
          guard session.receive(UnsafeRawBufferPointer(rebasing: buffer[..<count])) else {
            return close("the server does not speak HTTP/2")
          }
        case .waits: return
        case .closed: return close("the connection was lost")
        }
      }
    }
  }

  private func wait(for conditions: EventPoll.Condition, _ poll: borrowing EventPoll) {
    guard conditions != interest else { return }
    interest = conditions
    do { try poll.change(socket.descriptor.number, key: key, to: conditions) } catch { close("\(error)") }
  }
}
