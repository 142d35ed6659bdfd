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
