internal import Platform

/// One connection of a client. It reads requests and sends their responses, one after the other.
///
/// Only its network thread uses it.
final class Connection {
  private enum Phase {
    /// The connection receives a head or a body.
    case reading
    /// The connection waits for the handler.
    case waiting
    case sending
    /// The last response has been sent. Further input is discarded, so that no reset overtakes the response (RFC 9112,
    /// section 9.6), up to a limit: beyond it the window of the client closes, and the rest of its body stays with it.
    case lingering
    case closed
  }

  /// The number of bytes that are discarded after the last response.
  private static let maxDiscardedBytes = 64 << 10
  /// The number of bytes that are received of a connection that was reset.
  private static let maxRestBytes = 4 << 20
  /// The number of requests that are handled before other connections have their turns: a client may have sent thousands.
  private static let maxPipelined = 4
  /// The time in which a client that may send no more reads the response.
  private static let blockedTimeout = Duration.seconds(5)

  let number: UInt64
  private let socket: StreamSocket
  private let dispatcher: Dispatcher
  private let waker: Waker

  private var phase = Phase.reading
  private var reader: RequestReader
  private var context: RequestContext?
  private var head: RequestHead?
  private var writer: ResponseWriter?
  /// Whether the connection is closed after the current response.
  private var isLast = false
  /// Whether the socket accepts no more bytes.
  private var isBlocked = false
  /// Whether 100 Continue has been sent.
  private var hasSentContinue = false
  /// The time when the client was found to have closed its sending side.
  private var peerFinished: ContinuousClock.Instant?
  private var isStreaming = false
  /// The number of bytes that may still be discarded while the connection lingers.
  private var discardable = maxDiscardedBytes
  private var window = ReceiveWindow()
  /// The time that the client has left for the body.
  private var bodyTime: BodyTime?
  /// Whether the connection counts for its address: not during an authenticated request.
  private var countsForAddress = true
  /// The bytes that count for the address until a request takes them.
  private var countedInput = 0
  /// The bytes of a response that count for the client until it reads them.
  private var countedOutput = 0
  private var countedHolder: ShareHolder?
  /// The bytes that the client had not acknowledged when it was found idle.
  private var lastUnread = Int.max
  /// Whether requests have been received that wait for the next turn.
  private(set) var isInterrupted = false
  /// Whether the connection waits for its turn.
  var isQueued = false
  /// Whether the connection exceeds a limit; it is not counted.
  private(set) var isRejected = false
  private var deadline: ContinuousClock.Instant
  /// The time when the client last sent or received something.
  private(set) var lastProgress: ContinuousClock.Instant
  /// The events that are registered for the socket, at least those in `wanted`.
  var watched: EventPoll.Condition = [.readable, .finished]

  init(_ socket: consuming StreamSocket, number: UInt64, dispatcher: Dispatcher, mailbox: Mailbox) {
    self.socket = socket
    self.number = number
    self.dispatcher = dispatcher
    waker = Waker(mailbox: mailbox, connection: number)
    reader = RequestReader(limits: dispatcher.headLimits)
    let now = ContinuousClock.now
    deadline = now + dispatcher.configuration.headTimeout
    lastProgress = now
  }

  var descriptor: Int32 { socket.number }
  var peer: IPAddress { socket.peer }
  var isClosed: Bool { phase == .closed }

  /// Whether the connection may be closed for others at a limit: it is idle, or its client has not authenticated and does not read
  /// or, at the limit of all connections, sends a body.
  func mayClose(at limit: Refusal) -> Bool {
    if isRejected { return false }
    return switch phase {
    case .reading: context.map { limit == .connections && !$0.isAuthenticated } ?? true
    case .sending: isBlocked && context?.isAuthenticated == false
    case .lingering: true
    case .waiting, .closed: false
    }
  }

  /// The share that the connection uses; nil for a trusted proxy without a request, and for a connection that is not counted.
  var shareHolder: ShareHolder? {
    isRejected || isClosed ? nil : context?.shareHolder ?? dispatcher.shareHolder(of: peer)
  }

  /// Whether the client has sent a part of a request, so that it waits for a response.
  var isWithinRequest: Bool { if case .reading = phase { context != nil || reader.isWithinHead } else { false } }

  /// The events that the connection waits for.
  var wanted: EventPoll.Condition {
    switch phase {
    case .reading: isInterrupted ? [] : .readable
    case .lingering: discardable > 0 ? .readable : []
    case .sending where writer?.waitsForBody != true || isBlocked: .writable
    case .waiting, .sending: peerFinished == nil ? .finished : []
    case .closed: []
    }
  }

  // MARK: Events

  /// Handles events of the socket.
  func handle(_ found: EventPoll.Condition, buffer: UnsafeMutableRawBufferPointer) {
    if found.contains(.broken) {
      receiveRest(buffer)
      return close()
    }
    switch phase {
    case .reading where found.contains(.readable) && !isInterrupted: receive(buffer)
    case .lingering where found.contains(.readable) && discardable > 0: discard()
    case .sending where found.contains(.writable): run()
    case .waiting, .sending:
      guard found.contains(.finished), peerFinished == nil else { return }
      peerFinished = .now
      if writer?.stream != nil { close() }
    case .reading, .lingering, .closed: break
    }
  }

  /// Continues with the requests that have been received.
  func goOn() {
    (isInterrupted, isQueued) = (false, false)
    if phase == .reading { run() }
  }

  /// Continues after the handler, the stream or the loading of a file has made progress.
  func wake(buffer: UnsafeMutableRawBufferPointer) {
    releaseAddress()
    sendInterim()
    switch phase {
    case .waiting:
      guard let context else { return }
      perform(context.resumed(waker))
      run()
      // More of the body has often arrived: waiting for its event would be four system calls.
      if phase == .reading, self.context != nil { receive(buffer) }
    case .sending where !isBlocked: run()
    case .reading, .sending, .lingering, .closed: break
    }
  }

  /// Checks the timeouts.
  func tick(at now: ContinuousClock.Instant) {
    let configuration = dispatcher.configuration
    let isInactive = now - lastProgress > configuration.idleTimeout
    writer?.stream?.sendHeartbeat(at: now, after: configuration.heartbeat)
    switch phase {
    case .reading where context != nil:
      if now >= deadline || isInactive || bodyTime?.isOver(at: now) == true { timeOut() }
    case .reading:
      // Between two requests, the connection is closed without a response.
      if reader.isWithinHead { if now >= deadline { refuse(.tooSlow) } } else if isInactive { closeUnlessRead(at: now) }
    case .waiting:
      if now >= deadline {
        timeOut()
      } else if let peerFinished, now - peerFinished >= configuration.halfCloseTimeout {
        context?.abandon()
      }
    case .sending:
      if now >= deadline || writer?.stream?.isCut == true || (isBlocked && isInactive) { closeUnread() }
    case .lingering: if now >= deadline || isInactive { closeUnlessRead(at: now) }
    case .closed: break
    }
  }

  /// Closes an idle connection and finishes a stream, because the server is stopping.
  func stop() {
    if case .reading = phase, context == nil, !reader.isWithinHead { close() } else { writer?.stream?.finish() }
  }

  /// Sends a problem without a request and closes the connection soon, because it exceeds a limit.
  func reject(_ problem: Problem) {
    isRejected = true
    refuse(problem)
    run()
  }

  /// Closes the connection for others although it is busy; a handler that only reads is cancelled.
  func evict() {
    context?.abandon()
    closeUnread()
  }

  /// Closes an idle connection, unless the client of a slow link still reads what the system has taken ahead.
  private func closeUnlessRead(at now: ContinuousClock.Instant) {
    let unread = socket.unread
    guard !isRejected, unread > 0, unread < lastUnread else { return closeUnread() }
    (lastUnread, lastProgress) = (unread, now)
    deadline = now + dispatcher.configuration.lingerTimeout
  }

  /// Closes a connection whose client has not read what was sent, if anything is left: the system keeps nothing of it.
  func closeUnread() {
    socket.forgetUnread()
    close()
  }

  /// Closes the connection in any phase.
  func close() {
    guard phase != .closed else { return }
    phase = .closed
    countInput()
    endRequest(isComplete: false)
    writer = nil
  }

  // MARK: Reading

  private func receive(_ buffer: UnsafeMutableRawBufferPointer) {
    switch socket.receive(into: window.part(of: buffer)) {
    case .moved(let count):
      window.received(count, on: socket)
      let now = ContinuousClock.now
      if context == nil && !reader.isWithinHead { deadline = now + dispatcher.configuration.headTimeout }
      lastProgress = now
      bodyTime?.received(count, at: now)
      if context?.isResumable == true {
        deadline += .seconds(Int64(count)) / dispatcher.configuration.minReceiveRate
      }
      reader.append(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
      run()
    case .wouldBlock: break
    case .finished, .broken: close()
    }
  }

  /// Receives what the client had sent before it reset the connection: the system has it and has acknowledged it, and the handler
  /// may use it.
  private func receiveRest(_ buffer: UnsafeMutableRawBufferPointer) {
    guard phase == .reading || phase == .waiting, let context else { return }
    var rest = Self.maxRestBytes
    while rest > 0, case .moved(let count) = socket.receive(into: buffer) {
      rest -= count
      reader.append(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
      while let event = try? reader.next() {
        switch event {
        case .head: return
        case .body(let bytes): _ = context.arrived(bytes, waker)
        case .end: _ = context.ended(waker)
        }
      }
    }
  }

  private func discard() {
    switch socket.discard(discardable) {
    case .moved(let count):
      discardable -= count
      lastProgress = .now
      if discardable == 0 { deadline = min(deadline, lastProgress + Self.blockedTimeout) }
    case .wouldBlock: break
    case .finished, .broken: close()
    }
  }

  /// Counts what no request has taken yet, unless it is the body of that in progress, which counts for its credential soon; without room for
  /// it, the address has too many requests.
  private func countInput() {
    let isOfRequest = context != nil && (head?.hasBody == true || !countsForAddress)
    let count = isClosed || isOfRequest ? 0 : reader.input.count
    guard count != countedInput else { return }
    if dispatcher.countInput(count - countedInput, from: peer) {
      countedInput = count
    } else {
      dispatcher.report(.address, .address(peer))
      // Another request is in progress: a client repeats those behind it (RFC 9112, section 9.3.2).
      guard context == nil else { return close() }
      refuse(.tooManyFromAddress)
      run()
    }
  }

  /// Reads and sends until the connection must wait.
  private func run() {
    defer { countInput() }
    var requests = 0
    while true {
      switch phase {
      case .reading:
        if context == nil, reader.hasInput {
          isInterrupted = requests == Self.maxPipelined
          if isInterrupted { return }
          requests += 1
        }
        guard readNext() else { return }
      case .sending: guard sendMore() else { return }
      case .waiting, .lingering, .closed: return
      }
    }
  }

  /// Handles the next event of the input; false if more bytes are needed.
  private func readNext() -> Bool {
    do throws(Problem) {
      guard let event = try reader.next() else { return false }
      switch event {
      case .head(let head): begin(head)
      case .body(let bytes): if let context { perform(context.arrived(bytes, waker)) }
      case .end: if let context { perform(context.ended(waker)) }
      }
    } catch {
      refuse(error)
    }
    return true
  }

  private func begin(_ head: RequestHead) {
    let context = dispatcher.begin(head, from: peer)
    self.head = head
    self.context = context
    bodyTime = BodyTime(
      maxBytes: context.maxBodyBytes, isResumable: context.isResumable, dispatcher.configuration)
    releaseAddress()
    window.begin(head, on: socket)
    deadline = .now + dispatcher.configuration.requestTimeout
    let step = context.headArrived(waker)
    // The handler may have sent one before it could wake the connection. It precedes 100, after which the body comes.
    sendInterim()
    perform(step)
  }

  /// Stops counting the connection for its address once its request counts for a credential.
  private func releaseAddress() {
    guard countsForAddress, !isRejected, context?.isAuthenticated == true else { return }
    countsForAddress = false
    dispatcher.release(peer)
  }

  private func perform(_ step: RequestState.Step) {
    switch step {
    case .proceed:
      phase = .reading
      lastProgress = .now
      bodyTime?.resume(at: lastProgress)
      sendContinue()
    case .wait:
      phase = .waiting
      bodyTime?.pause(at: .now)
    case .respond(let response, let isEarly): send(response, isEarly: isEarly)
    case .close: close()
    }
  }

  /// Sends 100 Continue to a client that waits for it (RFC 9110, section 15.2.1).
  private func sendContinue() {
    guard !hasSentContinue, let head, head.expectsContinue, !reader.hasInput else { return }
    hasSentContinue = true
    // If the line is not sent, the client sends the body anyway after a timeout of its own.
    sendNow(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8))
  }

  /// Sends the interim responses of the handler, unless its response is on its way.
  private func sendInterim() {
    guard phase == .reading || phase == .waiting, let bytes = context?.takeInterim(), !bytes.isEmpty else { return }
    sendNow(bytes)
  }

  /// Sends what a client can do without: nothing if an earlier response fills the socket.
  private func sendNow(_ bytes: [UInt8]) {
    switch bytes.withUnsafeBytes({ socket.send($0, isFollowed: false) }) {
    case .moved(bytes.count), .wouldBlock: break
    case .moved, .finished, .broken: close()
    }
  }

  /// Responds to input that is not a valid request.
  private func refuse(_ problem: Problem) {
    if let context {
      perform(context.refused(.disconnected, problem.response, waker))
    } else {
      let context = dispatcher.refuse(problem, from: peer)
      self.context = context
      perform(context.headArrived(waker))
    }
  }

  /// Responds with 408, because the request takes too long. Clients repeat a request that gets no response, and few one that
  /// gets 408: a client that can go on gets none.
  private func timeOut() {
    guard let context else { return close() }
    if context.isResumable {
      context.fail(.deadlineExceeded, cutting: true)
      return close()
    }
    let step = context.refused(.deadlineExceeded, Problem.tooSlow.response, waker)
    context.abandon()
    perform(step)
    run()
  }

  // MARK: Responding

  private func send(_ response: Response, isEarly: Bool) {
    guard let context else { return close() }
    let isHead = context.method == "HEAD"
    isLast = isEarly || head?.endsConnection != false || dispatcher.isClosing || peerFinished != nil
    var response = response
    if let stream = response.body.stream {
      if isHead {
        stream.end()
      } else if dispatcher.beginStream() {
        isStreaming = true
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
      return send(failure, isEarly: true)
    }
    writer = ResponseWriter(head: bytes, body: response.body, isHeadOnly: isHead, isChunked: isChunked)
    phase = .sending
    isBlocked = false
    lastProgress = .now
    deadline = dispatcher.deadline(of: response)
    if dispatcher.isClosing { response.body.stream?.finish() }
  }

  /// Sends as much as the socket accepts; false if the connection must wait.
  private func sendMore() -> Bool {
    isBlocked = false
    guard let progress = writer?.send(on: socket, waker: waker) else { return false }
    switch progress {
    case .done:
      finishResponse()
      return true
    case .blocked:
      isBlocked = true
      lastProgress = .now
      countOutput(writer?.heldBytes ?? 0)
      return false
    case .waiting: return false
    case .failed:
      close()
      return false
    }
  }

  /// Counts the bytes of a response that wait for the client to read; one that has more of them than its share is not waited for.
  private func countOutput(_ bytes: Int) {
    guard bytes != countedOutput, let holder = countedHolder ?? shareHolder else { return }
    if dispatcher.countOutput(bytes - countedOutput, of: holder) {
      (countedOutput, countedHolder) = (bytes, holder)
    } else {
      dispatcher.report(holder.limit, holder)
      closeUnread()
    }
  }

  private func finishResponse() {
    let clientCloses = head?.endsConnection == true && reader.isBetweenRequests
    writer = nil
    endRequest(isComplete: true)
    let now = ContinuousClock.now
    (lastProgress, lastUnread) = (now, .max)
    guard isLast else {
      phase = .reading
      deadline = now + dispatcher.configuration.headTimeout
      return
    }
    if clientCloses { return close() }
    socket.finishSending()
    phase = .lingering
    reader = RequestReader(limits: dispatcher.headLimits)
    deadline = now + (isRejected ? .seconds(1) : dispatcher.configuration.lingerTimeout)
  }

  private func endRequest(isComplete: Bool) {
    guard let context else { return }
    if let countedHolder { _ = dispatcher.countOutput(-countedOutput, of: countedHolder) }
    (countedOutput, countedHolder) = (0, nil)
    if isStreaming { dispatcher.endStream() }
    isStreaming = false
    dispatcher.end(context, isComplete: isComplete, isLogged: !isRejected)
    if !countsForAddress { dispatcher.resume(peer) }
    countsForAddress = true
    self.context = nil
    bodyTime = nil
    head = nil
    hasSentContinue = false
  }
}
