internal import Platform

/// The actions of a connection.
extension Connection {
  typealias Action = ConnectionStateMachine.Action
  typealias Instant = ContinuousClock.Instant

  /// Performs an action and those that follow, until the connection must wait.
  func run(_ first: Action?, at now: Instant) {
    var action = first
    while let due = action { action = perform(due, at: now) }
    countInput()
  }

  /// Performs an action and returns the following one.
  private func perform(_ action: Action, at now: Instant) -> Action? {
    switch action {
    case .begin(let head): return begin(head, at: now)
    case .deliver(let bytes): return step(at: now) { $0.arrived(bytes, $1) }
    case .complete: return step(at: now) { $0.ended($1) }
    case .resume: return step(at: now) { $0.resumed($1) }
    case .refuse(let problem): return refuse(problem, at: now)
    case .timeOut:
      return step(at: now) { context, waker in
        defer { context.abandon() }
        return context.refused(.deadlineExceeded, Problem.tooSlow.response, waker)
      }
    case .cut:
      context?.fail(.deadlineExceeded, cutting: true)
      return machine.close()
    case .abandon:
      context?.abandon()
      return nil
    case .sendContinue:
      // If the line is not sent, the client sends the body anyway after a timeout of its own.
      sendNow(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8))
      return machine.next()
    case .respond(let response, let isLast): return send(response, isLast: isLast, at: now)
    case .write: return write(at: now)
    case .end(let ending):
      writer = nil
      endRequest(isComplete: true)
      if ending == .lingers { socket.finishSending() }
      return machine.next()
    case .finishStream:
      writer?.stream?.finish()
      return nil
    case .checkUnread: return machine.foundUnread(socket.unread, at: now)
    case .close(let isUnread):
      if isUnread { socket.forgetUnread() }
      endRequest(isComplete: false)
      writer = nil
      return nil
    }
  }

  /// Asks the request for its next step.
  private func step(
    at now: Instant, _ ask: (RequestContext, Waker) -> RequestState.Step
  ) -> Action? {
    guard let context else { return machine.close() }
    return machine.step(ask(context, waker), at: now)
  }

  private func begin(_ head: RequestHead, at now: Instant) -> Action? {
    let context = dispatcher.begin(head, from: peer)
    self.context = context
    let bodyTime = BodyTime(
      maxBytes: context.maxBodyBytes, isResumable: context.isResumable, dispatcher.configuration)
    machine.begin(Exchange(head, isResumable: context.isResumable, bodyTime: bodyTime), at: now)
    releaseAddress()
    window.begin(head, on: socket)
    let step = context.headArrived(waker)
    // The handler may have sent one before it could wake the connection. It precedes 100, after which the body comes.
    sendInterim()
    return machine.step(step, at: now)
  }

  /// Responds in place of the handler, or to input that is not a valid request.
  private func refuse(_ problem: Problem, at now: Instant) -> Action? {
    if context != nil { return step(at: now) { $0.refused(.disconnected, problem.response, $1) } }
    context = dispatcher.refuse(problem, from: peer)
    machine.begin(.refused, at: now)
    return step(at: now) { $0.headArrived($1) }
  }

  private func send(
    _ response: Response, isLast: Bool, at now: Instant
  ) -> Action? {
    guard let context else { return machine.close() }
    let isHead = context.method == "HEAD"
    var isLast = isLast || dispatcher.isClosing
    var response = response
    if let stream = response.body.stream {
      if isHead {
        stream.end()
      } else if dispatcher.beginStream() {
        counted.hasStream = true
      } else {
        stream.end()
        dispatcher.report(.streams, context.shareHolder ?? .address(context.client))
        response = Problem.tooManyStreams.response
        context.replaceSent(response)
      }
    }
    let isChunked = context.version != .http10
    if response.body.stream != nil && !isChunked { isLast = true }
    guard let bytes = dispatcher.head(of: response, for: context, isChunked: isChunked, isLast: isLast) else {
      response.body.stream?.end()
      let failure = Problem.internalError(context.requestID).response
      context.replaceSent(failure)
      return send(failure, isLast: true, at: now)
    }
    writer = ResponseWriter(head: bytes, body: response.body, isHeadOnly: isHead, isChunked: isChunked)
    let next = machine.send(isLast: isLast, until: dispatcher.deadline(of: response, at: now), at: now)
    if dispatcher.isClosing { response.body.stream?.finish() }
    return next
  }

  private func write(at now: Instant) -> Action? {
    guard let result = writer?.send(on: socket, waker: waker) else { return nil }
    let next = machine.sent(result, at: now)
    return result == .blocked ? countOutput(writer?.heldBytes ?? 0) : next
  }

  /// Sends the interim responses of the handler, unless its response is on its way.
  func sendInterim() {
    guard machine.isReceiving || machine.isWaiting, let bytes = context?.takeInterim(), !bytes.isEmpty else { return }
    sendNow(bytes)
  }

  /// Sends what a client can do without: nothing if an earlier response fills the socket.
  private func sendNow(_ bytes: [UInt8]) {
    switch bytes.withUnsafeBytes({ socket.send($0, isFollowed: false) }) {
    case .moved(bytes.count), .wouldBlock: break
    case .moved, .finished, .broken: close()
    }
  }
}
