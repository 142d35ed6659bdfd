import Glibc
internal import Platform

/// Meets every request on the network threads: routes and refuses, or lets it in for a handler; shared by all of them.
final class Dispatcher: Sendable {
  /// Left to blobs, to databases and to whatever else opens files.
  private static let otherFiles = 512

  let configuration: ServerConfiguration
  let headLimits: HeadParser.Limits
  let exchanges = ActivityCount()
  private let handlers: HandlerTasks
  private let router: Router
  private let observer: ServerObserver
  private let limits: Locked<ConnectionLimits>
  private let closing = CancellationFlag()

  init(configuration: ServerConfiguration, handlers: HandlerTasks, router: Router, observer: ServerObserver) {
    self.configuration = configuration
    self.handlers = handlers
    self.router = router
    self.observer = observer
    headLimits = HeadParser.Limits(requestLine: configuration.requestLineBytes, head: configuration.headBytes)
    limits = Locked(
      ConnectionLimits(
        connections: min(configuration.maxConnections, max(64, ThisProcess.openFilesLimit - Self.otherFiles)),
        perAddress: configuration.maxPerAddress,
        streams: configuration.maxStreams))
  }

  /// Whether no further request is taken.
  var isClosing: Bool { closing.isCancelled }

  /// Refuses every further request with 503.
  func close() { closing.cancel() }

  /// How much there is of each kind.
  var load: ServerLoad {
    let (connections, streams) = limits.withLock { ($0.connections, $0.streams) }
    return ServerLoad(connections: connections, requests: exchanges.count, streams: streams)
  }

  // MARK: Connections

  /// Counts a connection; nil, or why it is to be turned away.
  func open(from peer: IPAddress) -> Refusal? {
    limits.withLock { limits in
      guard isTrusted(peer) || limits.begin(from: peer) else { return .address }
      guard limits.open() else {
        if !isTrusted(peer) { limits.end(from: peer) }
        return .connections
      }
      return nil
    }
  }

  /// A connection that was counted is over.
  ///
  /// - Parameter isReleased: whether its address was told already that it does not count.
  func close(from peer: IPAddress, isReleased: Bool) {
    limits.withLock { $0.close() }
    if !isReleased { release(peer) }
  }

  /// A connection does not count for its address any longer: somebody with a key is behind it.
  func release(_ peer: IPAddress) {
    if !isTrusted(peer) { limits.withLock { $0.end(from: peer) } }
  }

  /// Counts a stream; false, and it is not counted, where there are as many as may be.
  func beginStream() -> Bool { limits.withLock { $0.openStream() } }

  func endStream() { limits.withLock { $0.closeStream() } }

  /// Tells that somebody was turned away.
  func note(_ refusal: Refusal, _ client: IPAddress) { observer.onRefusal(refusal, client) }

  private func isTrusted(_ address: IPAddress) -> Bool {
    configuration.trustedProxies.contains { $0.contains(address) }
  }

  /// The client that trusted proxies name: the last of X-Forwarded-For that is not one of them.
  private func client(_ headers: HeaderFields, from peer: IPAddress) -> IPAddress {
    var client = peer
    for text in headers.list("X-Forwarded-For").reversed() {
      guard isTrusted(client), let next = IPAddress(text) else { break }
      client = next
    }
    return client
  }

  // MARK: Requests

  /// Starts the exchange for a head, and tells whether it showed who asks.
  func begin(_ head: RequestHead, from peer: IPAddress) -> (exchange: Exchange, isKeyed: Bool) {
    let id = head.headers[RequestID.headerName].flatMap(RequestID.init) ?? RequestID()
    let client = client(head.headers, from: peer)
    func start(_ route: Route?, counting: IPAddress? = nil) -> Exchange {
      exchanges.begin()
      return Exchange(
        requestID: id, head: head, route: route?.template, client: client, countedAddress: counting,
        state: ExchangeState(
          hasBody: head.hasBody,
          limits: .init(body: route?.bodyLimit ?? 0, buffered: configuration.bufferedBytes)))
    }
    func refuse(_ problem: Problem) -> Exchange {
      let exchange = start(nil)
      exchange.answer(problem.response)
      return exchange
    }

    if isClosing { return (refuse(.stopping), false) }
    do throws(Problem) {
      let match = try router.match(head, from: client)
      if let length = head.contentLength, length > match.route.bodyLimit {
        throw .bodyTooLarge(limit: match.route.bodyLimit)
      }
      // Behind a proxy its connections are nobody's: the requests of an address count instead.
      let counted = client != peer && match.principal == nil ? client : nil
      if let counted, !limits.withLock({ $0.begin(from: counted) }) {
        note(.address, counted)
        throw .tooManyFromAddress
      }
      let exchange = start(match.route, counting: counted)
      let request = Request(
        head: head, id: id, client: client, principal: match.principal, parameters: match.parameters,
        body: RequestBody(exchange: exchange))
      let task = handlers.start { await self.answer(request, by: match.route, exchange) }
      if match.route.isSafe { exchange.whenAbandoned { task.cancel() } }
      return (exchange, match.principal != nil)
    } catch {
      return (refuse(error), false)
    }
  }

  /// Starts an exchange for something that is no request, with its answer.
  func refuse(_ problem: Problem, from peer: IPAddress) -> Exchange {
    exchanges.begin()
    let exchange = Exchange(
      requestID: RequestID(), head: nil, route: nil, client: peer, countedAddress: nil,
      state: ExchangeState(hasBody: true, limits: .init(body: 0, buffered: 0)))
    exchange.answer(problem.response)
    return exchange
  }

  /// Runs the handler and answers with what it returns or throws.
  private func answer(_ request: Request, by route: Route, _ exchange: Exchange) async {
    do {
      exchange.answer(try await route.handler(request))
    } catch {
      // What a cancelled handler says is for nobody.
      if exchange.isAbandoned { return exchange.giveUp() }
      exchange.answer(answer(for: error, to: request).response)
    }
  }

  private func answer(for error: any Error, to request: Request) -> Problem {
    switch error {
    case let problem as Problem: return problem
    case BodyError.tooLarge(let limit): return .bodyTooLarge(limit: limit)
    case BodyError.deadlineExceeded: return .tooSlow
    case BodyError.disconnected: return .cutShort
    case BodyError.cancelled, is CancellationError: return .stopping
    default:
      observer.onFailure(error, request)
      return .internalError(request.id)
    }
  }

  // MARK: Answers

  /// The head of an answer as it is sent; nil where a field is not fit to be.
  ///
  /// - Parameter isChunked: whether a body of unknown length is sent in chunks.
  func head(of response: Response, for exchange: Exchange, isChunked: Bool, isLast: Bool) -> [UInt8]? {
    var headers = response.headers
    headers[RequestID.headerName] = exchange.requestID.description
    headers["Date"] = ResponseHead.date(time(nil))
    switch response.body {
    case .stream: if isChunked && exchange.method != "HEAD" { headers["Transfer-Encoding"] = "chunked" }
    // These two have no body, and 304 would tell the length of another (RFC 9110, section 8.6).
    case .bytes, .file:
      if response.status.code != 204 && response.status.code != 304 {
        headers["Content-Length"] = String(response.body.count)
      }
    }
    if isLast {
      headers["Connection"] = "close"
    } else if exchange.version == .http10 {
      headers["Connection"] = "keep-alive"
    }
    return ResponseHead.bytes(response.status, headers)
  }

  /// When an answer that begins now must be out: its stream says so, or its length and the slowest client.
  func deadline(of response: Response) -> ContinuousClock.Instant {
    let now = ContinuousClock.now
    let stream = response.body.stream
    let time = stream?.deadline ?? .seconds(response.body.count / configuration.slowestAnswer)
    stream?.open(at: now)
    return now + configuration.headDeadline + time
  }

  /// A request is over, completely or not.
  ///
  /// - Parameter isTold: whether it stands in the log; a crowd that is turned away is only counted.
  func end(_ exchange: Exchange, isComplete: Bool, isTold: Bool) {
    exchange.finish()
    defer { exchanges.end() }
    if let counted = exchange.countedAddress { limits.withLock { $0.end(from: counted) } }
    guard isTold else { return }
    let response = exchange.sent
    observer.onAccess(
      AccessRecord(
        requestID: exchange.requestID, method: exchange.method, path: exchange.path, route: exchange.route,
        client: exchange.client, status: response?.status.code ?? 499,
        bytes: exchange.method == "HEAD" ? 0 : response?.body.count ?? 0, duration: exchange.start.duration(to: .now),
        isComplete: isComplete && response != nil))
  }
}
