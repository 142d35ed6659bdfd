internal import Platform

/// One connection of a client: it reports the events of the socket to its state machine, and performs the actions.
///
/// Only its network thread uses it.
final class Connection {
  /// The number of bytes that are received of a connection that was reset.
  private static let maxRestBytes = 4 << 20

  let number: UInt64
  let socket: StreamSocket
  let dispatcher: Dispatcher
  let waker: Waker
  var machine: ConnectionStateMachine
  /// The request in progress.
  var context: RequestContext?
  var writer: ResponseWriter?
  var window = ReceiveWindow()
  var counted = CountedLoad()
  /// Whether the connection waits for its turn.
  var isQueued = false
  /// The events that are registered for the socket, at least those in `wanted`.
  var watched: EventPoll.Condition = [.readable, .finished]

  init(_ socket: consuming StreamSocket, number: UInt64, dispatcher: Dispatcher, mailbox: Mailbox) {
    self.socket = socket
    self.number = number
    self.dispatcher = dispatcher
    waker = Waker(mailbox: mailbox, connection: number)
    machine = ConnectionStateMachine(
      times: ConnectionTimes(dispatcher.configuration), headLimits: dispatcher.headLimits, at: .now)
  }

  var descriptor: Int32 { socket.number }
  var peer: IPAddress { socket.peer }
  var isClosed: Bool { machine.isClosed }
  var isWithinRequest: Bool { machine.isWithinRequest }
  /// Whether requests have been received that wait for the next turn.
  var isInterrupted: Bool { machine.isInterrupted }
  /// Whether the connection exceeds a limit; it is not counted.
  var isRejected: Bool { machine.claim == .nothing }
  var wanted: EventPoll.Condition { machine.wanted }
  var lastProgress: ContinuousClock.Instant { machine.lastProgress }

  // MARK: Events

  /// Handles events of the socket.
  func handle(_ found: EventPoll.Condition, buffer: UnsafeMutableRawBufferPointer) {
    if found.contains(.broken) {
      receiveRest(buffer)
      return close()
    }
    switch machine.readiness(for: found) {
    case .receive: receive(buffer)
    case .discard(let maxCount): discard(maxCount)
    case .write: run(machine.next(), at: .now)
    case .finish:
      let now = ContinuousClock.now
      run(machine.finished(isStreaming: writer?.stream != nil, at: now), at: now)
    case nil: break
    }
  }

  /// Continues with the requests that have been received.
  func goOn() {
    isQueued = false
    run(machine.turned(), at: .now)
  }

  /// Continues after the handler, the stream or the loading of a file has made progress.
  func wake(buffer: UnsafeMutableRawBufferPointer) {
    releaseAddress()
    sendInterim()
    let hasWaited = machine.isWaiting
    run(machine.woken(), at: .now)
    // More of the body has often arrived: waiting for its event would be four system calls.
    if hasWaited, machine.isReceiving { receive(buffer) }
  }

  /// Checks the timeouts.
  func tick(at now: ContinuousClock.Instant) {
    let stream = writer?.stream
    stream?.sendHeartbeat(at: now, after: dispatcher.configuration.heartbeat)
    if let action = machine.tick(isCut: stream?.isCut == true, at: now) { run(action, at: now) }
  }

  /// Closes an idle connection and finishes a stream, because the server is stopping.
  func stop() { run(machine.stop(), at: .now) }

  /// Sends a problem without a request and closes the connection soon, because it exceeds a limit.
  func reject(_ problem: Problem) { run(machine.reject(problem), at: .now) }

  /// Closes the connection for others although it is busy; a handler that only reads is cancelled.
  func evict() {
    context?.abandon()
    closeUnread()
  }

  /// Closes a connection whose client has not read what was sent, if anything is left: the system keeps nothing of it.
  func closeUnread() { run(machine.close(isUnread: true), at: .now) }

  /// Closes the connection in any state.
  func close() { run(machine.close(), at: .now) }

  // MARK: Receiving

  private func receive(_ buffer: UnsafeMutableRawBufferPointer) {
    switch socket.receive(into: window.part(of: buffer)) {
    case .moved(let count):
      window.received(count, on: socket)
      let now = ContinuousClock.now
      run(machine.received(UnsafeRawBufferPointer(rebasing: buffer[..<count]), at: now), at: now)
    case .wouldBlock: break
    case .finished, .broken: close()
    }
  }

  /// Receives what the client had sent before it reset the connection.
  private func receiveRest(_ buffer: UnsafeMutableRawBufferPointer) {
    guard machine.receivesRest(), let context else { return }
    var rest = Self.maxRestBytes
    let now = ContinuousClock.now
    while rest > 0, case .moved(let count) = socket.receive(into: buffer) {
      rest -= count
      var action = machine.received(UnsafeRawBufferPointer(rebasing: buffer[..<count]), at: now)
      while let due = action {
        switch due {
        case .deliver(let bytes): _ = context.arrived(bytes, waker)
        case .complete: _ = context.ended(waker)
        default: return
        }
        action = machine.next()
      }
    }
  }

  private func discard(_ maxCount: Int) {
    switch socket.discard(maxCount) {
    case .moved(let count): machine.discarded(count, at: .now)
    case .wouldBlock: break
    case .finished, .broken: close()
    }
  }
}
