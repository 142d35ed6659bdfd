import Glibc
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
    guard let bytes = head(of: response, for: context, isChunked: isChunked, isLast: isLast) else {
      response.body.stream?.end()
      let failure = Problem.internalError(context.requestID).response
      context.replaceSent(failure)
      return send(failure, isLast: true, at: now)
    }
    writer = ResponseWriter(head: bytes, body: response.body, isHeadOnly: isHead, isChunked: isChunked)
    let next = machine.send(isLast: isLast, until: deadline(of: response, at: now), at: now)
    if dispatcher.isClosing { response.body.stream?.finish() }
    return next
  }

  /// Returns the encoded head of a response; nil if a field is invalid.
  ///
  /// - Parameter isChunked: whether a body of unknown length is sent in chunks.
  private func head(of response: Response, for context: RequestContext, isChunked: Bool, isLast: Bool) -> [UInt8]? {
    let configuration = dispatcher.configuration
    var headers = response.headers
    headers[RequestID.headerName] = context.requestID.description
    headers["Date"] = ResponseHead.date(time(nil))
    if let url = configuration.publicURL, let location = headers["Location"], location.utf8.first == UInt8(ascii: "/") {
      headers["Location"] = url.prefix + location
    }
    for field in context.commonFields where headers[field.name] == nil { headers.append(field.name, field.value) }
    configuration.allowedOrigins.add(to: &headers, origin: context.origin)
    switch response.body {
    case .stream: if isChunked && context.method != "HEAD" { headers["Transfer-Encoding"] = "chunked" }
    // Neither 204 nor 304 has a body, and the field in 304 would be the length of another one (RFC 9110, section 8.6).
    case .bytes, .file:
      if response.status.code != 204 && response.status.code != 304 {
        headers["Content-Length"] = String(response.body.count)
      }
    }
    if isLast {
      headers["Connection"] = "close"
    } else if context.version == .http10 {
      headers["Connection"] = "keep-alive"
    }
    return ResponseHead.bytes(response.status, headers)
  }

  /// The deadline of a response that starts at `now`, from the lifetime of its stream, or from its length and `minSendRate`.
  private func deadline(of response: Response, at now: Instant) -> Instant {
    let stream = response.body.stream
    let time = stream?.lifetime ?? .seconds(response.body.count / dispatcher.configuration.minSendRate)
    stream?.open(at: now)
    return now + dispatcher.configuration.headTimeout + time
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
