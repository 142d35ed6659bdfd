internal import Platform

/// The state of one connection, without a socket, a thread or a clock.
///
/// The network thread reports each event with its time. An event returns the action that is due, and after an action `next()` returns
/// the following one; nil: the connection waits for another event.
struct ConnectionStateMachine {
  typealias Instant = ContinuousClock.Instant

  enum State {
    /// The connection is between two requests or receives a head.
    case idle
    /// Requests have been received that wait for the next turn.
    case interrupted
    case receiving(Exchange)
    /// The connection waits for the handler.
    case waiting(Exchange)
    case sending(Exchange, Sending)
    /// The last response has been sent. Further input is discarded, so that no reset overtakes the response (RFC 9112,
    /// section 9.6), up to a limit: beyond it the window of the client closes, and the rest of its body stays with it.
    case lingering(discardable: Int)
    case closed
  }

  /// A response on its way.
  struct Sending {
    /// Whether the connection is closed after the response.
    let isLast: Bool
    /// What the response waits for.
    var obstacle: Obstacle?
  }

  enum Obstacle {
    /// The socket accepts no more bytes.
    case socket
    /// The stream has no bytes, or those of a file are being loaded.
    case body
  }

  /// What the network thread does next.
  enum Action {
    /// Start a request; its first step follows `begin`.
    case begin(RequestHead)
    /// Pass a chunk of the body to the request, whose step follows.
    case deliver([UInt8])
    /// Report the end of the request, whose step follows.
    case complete
    /// Ask the request for the step of a connection that was woken.
    case resume
    /// Respond with a problem, in place of the handler if there is a request.
    case refuse(Problem)
    /// Respond that the request takes too long, and cancel a handler that only reads.
    case timeOut
    /// Let the handler fail and close the connection without a response.
    case cut
    /// Cancel a handler that only reads, because the client has disconnected.
    case abandon
    /// Send 100 Continue.
    case sendContinue
    /// Send the head of a response; `send` follows.
    case respond(Response, isLast: Bool)
    /// Send as much of the response as the socket accepts; `sent` follows.
    case write
    /// End the request, whose response has been sent.
    case end(Ending)
    /// Finish the stream of the response, because the server is stopping.
    case finishStream
    /// Ask the system what the client has not acknowledged; `foundUnread` follows.
    case checkUnread
    /// Close the connection; with `isUnread`, the system keeps nothing of what the client has not read.
    case close(isUnread: Bool)
  }

  /// What a complete response leaves.
  enum Ending { case persists, lingers, closes }

  /// The share that the connection counts for.
  enum Claim { case address, credential, nothing }

  /// The number of bytes that are discarded after the last response.
  static let maxDiscardedBytes = 64 << 10
  /// The number of requests that are handled before other connections have their turns: a client may have sent thousands.
  static let maxPipelined = 4

  let times: ConnectionTimes
  let headLimits: HeadParser.Limits
  var state = State.idle
  var input: RequestReader
  var claim = Claim.address
  /// The number of requests since the connection last waited.
  var pipelined = 0
  /// The time when the client was found to have closed its sending side.
  var peerFinished: Instant?
  /// The bytes that the client had not acknowledged when it was found idle.
  var lastUnread = Int.max
  var deadline: Instant
  /// The time when the client last sent or received something.
  var lastProgress: Instant

  init(times: ConnectionTimes, headLimits: HeadParser.Limits, at now: Instant) {
    self.times = times
    self.headLimits = headLimits
    input = RequestReader(limits: headLimits)
    deadline = now + times.head
    lastProgress = now
  }
}

/// The events of a request, from its first bytes to its response.
extension ConnectionStateMachine {
  /// The action that follows another one; nil: the connection waits for an event.
  mutating func next() -> Action? {
    switch state {
    case .idle:
      guard input.hasInput else { return read() }
      guard pipelined < Self.maxPipelined else {
        state = .interrupted
        return pause()
      }
      pipelined += 1
      return read()
    case .receiving: return read()
    case .sending: return .write
    case .interrupted, .waiting, .lingering, .closed: return pause()
    }
  }

  /// The connection has received bytes.
  mutating func received(_ bytes: UnsafeRawBufferPointer, at now: Instant) -> Action? {
    switch state {
    case .idle: if !input.isWithinHead { deadline = now + times.head }
    case .receiving(var exchange):
      exchange.bodyTime?.received(bytes.count, at: now)
      if exchange.isResumable { deadline += .seconds(Int64(bytes.count)) / times.minReceiveRate }
      state = .receiving(exchange)
    case .interrupted, .waiting, .sending, .lingering, .closed: return nil
    }
    lastProgress = now
    input.append(bytes)
    return next()
  }

  /// The client has reset the connection. Returns whether the request receives what it had sent before: the system has it and has
  /// acknowledged it, and the handler may use it.
  mutating func receivesRest() -> Bool {
    guard case .receiving(let exchange) = resumed(state) else { return false }
    state = .receiving(exchange)
    return true
  }

  /// The connection has its next turn.
  mutating func turned() -> Action? {
    guard case .interrupted = state else { return nil }
    state = .idle
    return next()
  }

  /// The handler, the stream or the loading of a file has made progress.
  func woken() -> Action? {
    switch state {
    case .waiting: .resume
    case .sending(_, let sending) where sending.obstacle != .socket: .write
    case .idle, .interrupted, .receiving, .sending, .lingering, .closed: nil
    }
  }

  /// A request has started, or input is refused.
  mutating func begin(_ exchange: Exchange, at now: Instant) {
    switch state {
    case .idle, .interrupted:
      state = .receiving(exchange)
      deadline = now + times.request
    case .receiving, .waiting, .sending, .lingering, .closed: break
    }
  }

  /// The client of the request is known by a credential. Returns whether the connection counted for its address until now.
  mutating func authenticated() -> Bool {
    guard claim == .address else { return false }
    claim = .credential
    return true
  }

  /// The request has ended. Returns whether the connection counts for its address again.
  mutating func ended() -> Bool {
    guard claim == .credential else { return false }
    claim = .address
    return true
  }

  /// The request has its next step.
  mutating func step(_ step: RequestState.Step, at now: Instant) -> Action? {
    switch (step, resumed(state)) {
    case (.close, _): return close()
    case (.proceed, .receiving(var exchange)):
      lastProgress = now
      exchange.bodyTime?.resume(at: now)
      let sendsContinue = exchange.awaitsContinue && !input.hasInput
      if sendsContinue { exchange.awaitsContinue = false }
      state = .receiving(exchange)
      return sendsContinue ? .sendContinue : next()
    case (.wait, .receiving(var exchange)):
      exchange.bodyTime?.pause(at: now)
      state = .waiting(exchange)
      return pause()
    case (.respond(let response, let isEarly), .receiving(let exchange)):
      return .respond(response, isLast: isEarly || exchange.endsConnection != false || peerFinished != nil)
    case (.proceed, _), (.wait, _), (.respond, _): return pause()
    }
  }

  /// The state in which a request in progress that has no response on its way receives.
  func resumed(_ state: State) -> State {
    if case .waiting(let exchange) = state { .receiving(exchange) } else { state }
  }

  private mutating func read() -> Action? {
    do throws(Problem) {
      guard let event = try input.next() else { return pause() }
      return switch event {
      case .head(let head): .begin(head)
      case .body(let bytes): .deliver(bytes)
      case .end: .complete
      }
    } catch {
      return .refuse(error)
    }
  }

  /// Waits for an event: the requests that follow it have a turn of their own.
  mutating func pause() -> Action? {
    pipelined = 0
    return nil
  }
}
