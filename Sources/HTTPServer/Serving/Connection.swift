internal import Platform

/// One connection of a client: reads requests, asks for their answers and sends them, one after the other.
///
/// Only its network thread touches it.
final class Connection {
  private enum Phase {
    /// Bytes of a head or a body are to come.
    case reading
    /// The exchange decides what comes next.
    case waiting
    case sending
    /// The last answer is out; what the client still sends is thrown away, so that no reset overtakes the answer
    /// (RFC 9112, section 9.6).
    case lingering
    case closed
  }

  let number: UInt64
  private let socket: StreamSocket
  private let reception: Dispatcher
  private let waker: Waker

  private var phase = Phase.reading
  private var reader: RequestReader
  private var exchange: Exchange?
  private var head: RequestHead?
  private var outgoing: Outgoing?
  /// Whether the connection ends with the answer that is being sent.
  private var isLast = false
  /// Whether the client took less than there was to send.
  private var isBlocked = false
  /// Whether the client was told that its body is wanted.
  private var isBodyAllowed = false
  /// When the client was found to have finished sending.
  private var peerFinished: ContinuousClock.Instant?
  private var isStreaming = false
  /// Whether a request on it showed a key: it does not count for its address, and is not closed to make room.
  private(set) var isKeyed = false
  /// Whether it is one too many, which nobody counts.
  private(set) var isTurnedAway = false
  private var deadline: ContinuousClock.Instant
  private var lastProgress: ContinuousClock.Instant
  /// What the network thread watches it for, at least what is `wanted`.
  var watched: EventPoll.Condition = [.readable, .finished]

  init(_ socket: consuming StreamSocket, number: UInt64, reception: Dispatcher, mailbox: Mailbox) {
    self.socket = socket
    self.number = number
    self.reception = reception
    waker = Waker(mailbox: mailbox, connection: number)
    reader = RequestReader(limits: reception.headLimits)
    let now = ContinuousClock.now
    deadline = now + reception.configuration.headDeadline
    lastProgress = now
  }

  var descriptor: Int32 { socket.number }
  var peer: IPAddress { socket.peer }
  var isClosed: Bool { phase == .closed }

  /// Since when nothing is done for it and nobody showed a key on it, so that others may have its place; nil where
  /// something is.
  var idleSince: ContinuousClock.Instant? {
    if isKeyed || isTurnedAway { return nil }
    return switch phase {
    case .reading where exchange == nil: lastProgress
    case .sending where isBlocked: lastProgress
    case .lingering: lastProgress
    case .reading, .waiting, .sending, .closed: nil
    }
  }

  /// Whether a part of a head has come.
  var isWithinHead: Bool { if case .reading = phase { exchange == nil && reader.isWithinHead } else { false } }

  /// What it waits for.
  var wanted: EventPoll.Condition {
    switch phase {
    case .reading, .lingering: .readable
    case .sending where outgoing?.stream == nil || isBlocked: .writable
    case .waiting, .sending: peerFinished == nil ? .finished : []
    case .closed: []
    }
  }

  // MARK: Events

  /// The system found something about the socket.
  func handle(_ found: EventPoll.Condition, buffer: UnsafeMutableRawBufferPointer) {
    if found.contains(.broken) { return close() }
    switch phase {
    case .reading where found.contains(.readable): receive(buffer)
    case .lingering where found.contains(.readable): discard()
    case .sending where found.contains(.writable): run()
    case .waiting, .sending:
      guard found.contains(.finished), peerFinished == nil else { return }
      peerFinished = .now
      if outgoing?.stream != nil { close() }
    case .reading, .lingering, .closed: break
    }
  }

  /// The exchange or the stream has something to do.
  func wake() {
    switch phase {
    case .waiting:
      guard let exchange else { return }
      take(exchange.resumed(waker))
      run()
    case .sending where !isBlocked: run()
    case .reading, .sending, .lingering, .closed: break
    }
  }

  /// Time has passed.
  func tick(at now: ContinuousClock.Instant) {
    let configuration = reception.configuration
    let isSilent = now - lastProgress > configuration.inactivity
    outgoing?.stream?.beat(at: now, after: configuration.heartbeat)
    switch phase {
    case .reading where exchange != nil:
      if now >= deadline || isSilent { giveUp() }
    case .reading:
      // Between two requests nobody is told anything.
      if reader.isWithinHead { if now >= deadline { refuse(.tooSlow) } } else if isSilent { close() }
    case .waiting:
      if now >= deadline {
        giveUp()
      } else if let peerFinished, now - peerFinished >= configuration.departure {
        exchange?.abandon()
      }
    case .sending:
      if now >= deadline || outgoing?.stream?.isCut == true || (isBlocked && isSilent) { close() }
    case .lingering: if now >= deadline || isSilent { close() }
    case .closed: break
    }
  }

  /// The server takes no further request: an idle connection is closed, an endless answer is ended.
  func stop() {
    if case .reading = phase, exchange == nil, !reader.isWithinHead { close() } else { outgoing?.stream?.finish() }
  }

  /// Answers before anything has come, and closes soon: such connections are held beyond those that are counted.
  func turnAway(_ problem: Problem) {
    isTurnedAway = true
    refuse(problem)
    run()
  }

  /// Closes it, whatever is under way.
  func close() {
    guard phase != .closed else { return }
    phase = .closed
    endExchange(isComplete: false)
    outgoing = nil
  }

  // MARK: Reading

  private func receive(_ buffer: UnsafeMutableRawBufferPointer) {
    switch socket.receive(into: buffer) {
    case .moved(let count):
      let now = ContinuousClock.now
      if exchange == nil && !reader.isWithinHead { deadline = now + reception.configuration.headDeadline }
      lastProgress = now
      reader.append(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
      run()
    case .wouldBlock: break
    case .finished, .broken: close()
    }
  }

  private func discard() {
    switch socket.discard(1 << 20) {
    case .moved: lastProgress = .now
    case .wouldBlock: break
    case .finished, .broken: close()
    }
  }

  /// Goes on until something must come first.
  private func run() {
    while true {
      switch phase {
      case .reading: guard readOn() else { return }
      case .sending: guard sendOn() else { return }
      case .waiting, .lingering, .closed: return
      }
    }
  }

  /// Reads what has come; false when more must come.
  private func readOn() -> Bool {
    do throws(Problem) {
      guard let event = try reader.next() else { return false }
      switch event {
      case .head(let head): begin(head)
      case .body(let bytes): if let exchange { take(exchange.arrived(bytes, waker)) }
      case .end: if let exchange { take(exchange.ended(waker)) }
      }
    } catch {
      refuse(error)
    }
    return true
  }

  private func begin(_ head: RequestHead) {
    let (exchange, isKeyed) = reception.begin(head, from: peer)
    if isKeyed && !self.isKeyed {
      self.isKeyed = true
      reception.release(peer)
    }
    self.head = head
    self.exchange = exchange
    deadline = .now + reception.configuration.requestDeadline
    let step = exchange.headArrived(waker)
    take(step)
  }

  private func take(_ step: ExchangeState.Step) {
    switch step {
    case .proceed:
      phase = .reading
      lastProgress = .now
      allowBody()
    case .wait: phase = .waiting
    case .answer(let response, let isEarly): send(response, isEarly: isEarly)
    case .close: close()
    }
  }

  /// Tells a client that waits for it that its body is wanted (RFC 9110, section 15.2.1).
  private func allowBody() {
    guard let head, head.expectsContinue, !isBodyAllowed, !reader.hasInput else { return }
    isBodyAllowed = true
    let line = Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)
    switch line.withUnsafeBytes({ socket.send($0, isFollowed: false) }) {
    case .moved(line.count): break
    // An answer before it is still on its way. Clients wait for leave only so long, and then send.
    case .wouldBlock: break
    case .moved, .finished, .broken: close()
    }
  }

  /// What comes is no request that can be answered in its own right.
  private func refuse(_ problem: Problem) {
    if let exchange {
      exchange.fail(.disconnected, cutting: false)
      exchange.answer(problem.response)
      take(exchange.resumed(waker))
    } else {
      let exchange = reception.refuse(problem, from: peer)
      self.exchange = exchange
      take(exchange.headArrived(waker))
    }
  }

  /// The request takes too long.
  private func giveUp() {
    guard let exchange else { return close() }
    exchange.fail(.deadlineExceeded, cutting: false)
    exchange.answer(Problem.tooSlow.response)
    exchange.abandon()
    take(exchange.resumed(waker))
    run()
  }

  // MARK: Answering

  private func send(_ response: Response, isEarly: Bool) {
    guard let exchange else { return close() }
    let isHead = exchange.method == "HEAD"
    isLast = isEarly || head?.endsConnection != false || reception.isClosing || peerFinished != nil
    var response = response
    if let stream = response.body.stream {
      if isHead {
        stream.end()
      } else if reception.beginStream() {
        isStreaming = true
      } else {
        stream.end()
        reception.note(.streams, peer)
        response = Problem.tooManyStreams.response
        exchange.sends(response)
      }
    }
    let isChunked = exchange.version != .http10
    if response.body.stream != nil && !isChunked { isLast = true }
    guard let bytes = reception.head(of: response, for: exchange, isChunked: isChunked, isLast: isLast) else {
      response.body.stream?.end()
      let failure = Problem.internalError(exchange.requestID).response
      exchange.sends(failure)
      return send(failure, isEarly: true)
    }
    outgoing = Outgoing(head: bytes, body: response.body, isHeadOnly: isHead, isChunked: isChunked)
    phase = .sending
    isBlocked = false
    lastProgress = .now
    deadline = reception.deadline(of: response)
    if reception.isClosing { response.body.stream?.finish() }
  }

  /// Sends what the client takes; false when it takes no more now.
  private func sendOn() -> Bool {
    isBlocked = false
    guard let progress = outgoing?.send(on: socket, waker: waker) else { return false }
    switch progress {
    case .done:
      finishAnswer()
      return true
    case .blocked:
      isBlocked = true
      lastProgress = .now
      return false
    case .waiting: return false
    case .failed:
      close()
      return false
    }
  }

  private func finishAnswer() {
    let clientEnds = head?.endsConnection == true && reader.isBetweenRequests
    outgoing = nil
    endExchange(isComplete: true)
    let now = ContinuousClock.now
    lastProgress = now
    guard isLast else {
      phase = .reading
      deadline = now + reception.configuration.headDeadline
      return
    }
    if clientEnds { return close() }
    socket.finishSending()
    phase = .lingering
    deadline = now + (isTurnedAway ? .seconds(1) : reception.configuration.lingering)
  }

  private func endExchange(isComplete: Bool) {
    guard let exchange else { return }
    if isStreaming { reception.endStream() }
    isStreaming = false
    reception.end(exchange, isComplete: isComplete, isTold: !isTurnedAway)
    self.exchange = nil
    head = nil
    isBodyAllowed = false
  }
}
