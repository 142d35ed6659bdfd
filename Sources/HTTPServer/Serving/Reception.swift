internal import Platform

/// Meets every request on the network threads: guards, routes and refuses, or lets it in for a handler.
final class Reception: Sendable {
  /// A request let in, with the route that answers it.
  struct Arrival: Sendable {
    let request: Request
    let handler: Route.Handler
    let exchange: Exchange
  }

  let configuration: ServerConfiguration
  let registry = ConnectionRegistry()
  let lingering = LingeringSockets()
  let arrivals: AsyncStream<Arrival>
  private let arrivalsContinuation: AsyncStream<Arrival>.Continuation
  private let router: Router
  private let observer: ServerObserver
  private let isClosing = Locked(false)

  init(configuration: ServerConfiguration, router: Router, observer: ServerObserver) {
    self.configuration = configuration
    self.router = router
    self.observer = observer
    (arrivals, arrivalsContinuation) = AsyncStream.makeStream()
  }

  /// Refuses every further request with 503, and finishes every stream: of their own accord they may never end.
  func close() {
    isClosing.withLock { $0 = true }
    for stream in registry.streams { stream.finish() }
  }

  /// Ends `arrivals`.
  func finish() {
    close()
    arrivalsContinuation.finish()
  }

  /// Answers whatever is still waiting for a handler, so that no connection stays suspended.
  func answerAll() {
    finish()
    for exchange in registry.exchanges { exchange.answer(Problem.stopping.response) }
  }

  /// Starts the exchange for a request head.
  func begin(method: String, version: String, headers: HeaderFields, on connection: Connection) -> Exchange {
    let id = headers[RequestID.headerName].flatMap(RequestID.init) ?? RequestID()
    let target = RequestTarget(connection.target)
    let path = target?.path ?? String(connection.target.prefix { $0 != "?" })
    var limits = ExchangeState.Limits(body: 0, parked: configuration.parkedBytes, drained: configuration.drainedBytes)
    let hasBody = headers["Transfer-Encoding"] != nil || (headers["Content-Length"].flatMap { Int64($0) } ?? 0) > 0

    func start(isLast: Bool, route: String? = nil) -> Exchange {
      let exchange = Exchange(
        requestID: id, method: method, path: path, route: route, isLast: isLast,
        state: ExchangeState(hasBody: hasBody || isLast, limits: limits))
      registry.begin(exchange, on: connection.number, until: .now + configuration.requestDeadline)
      return exchange
    }
    func refuse(_ problem: Problem, isLast: Bool) -> Exchange {
      let exchange = start(isLast: isLast)
      exchange.answer(problem.response)
      return exchange
    }

    if let violation = FramingGuard.violation(version: version, headers: headers) {
      return refuse(.malformedRequest(violation), isLast: true)
    }
    guard let target else {
      return refuse(.malformedRequest("The request's target is not a path in UTF-8 with valid escapes."), isLast: true)
    }
    if isClosing.withLock({ $0 }) { return refuse(.stopping, isLast: true) }
    do throws(Problem) {
      let match = try router.match(method: method, target: target, headers: headers)
      limits.body = match.route.bodyLimit
      if let length = headers["Content-Length"].flatMap({ Int64($0) }), length > limits.body {
        throw .bodyTooLarge(limit: limits.body)
      }
      let exchange = start(isLast: false, route: match.route.template)
      let request = Request(
        method: method, target: target, headers: headers, id: id, parameters: match.parameters,
        body: RequestBody(exchange: exchange))
      let arrival = Arrival(request: request, handler: match.route.handler, exchange: exchange)
      if case .terminated = arrivalsContinuation.yield(arrival) { exchange.answer(Problem.stopping.response) }
      return exchange
    } catch {
      return refuse(error, isLast: false)
    }
  }

  /// Runs the handler and answers with what it returns or throws.
  func handle(_ arrival: Arrival) async {
    do {
      arrival.exchange.answer(try await arrival.handler(arrival.request))
    } catch {
      arrival.exchange.answer(answer(for: error, to: arrival.request).response)
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

  /// The answer is handed to the network: gives the client the time its length needs, or its stream asks for.
  func answering(_ response: Response, on connection: Connection) {
    let now = ContinuousClock.now
    let stream = response.body.stream
    let time = stream?.deadline ?? .seconds(response.body.count / configuration.slowestAnswer)
    stream?.open(at: now)
    registry.answering(with: stream, on: connection.number, until: now + configuration.headDeadline + time)
    // Registered first: whoever closes meanwhile finishes it, or has closed before and is seen here.
    if isClosing.withLock({ $0 }) { stream?.finish() }
  }

  /// A request is over, completely or not.
  func end(_ exchange: Exchange, on connection: Connection, isComplete: Bool) {
    exchange.finish()
    let (response, wasEarly) = exchange.outcome
    let now = ContinuousClock.now
    let copy = registry.end(
      on: connection.number, until: now + configuration.headDeadline, lingering: wasEarly && isComplete)
    if let copy { lingering.add(copy, until: now + .seconds(2)) }
    observer.onAccess(
      AccessRecord(
        requestID: exchange.requestID, method: exchange.method, path: exchange.path,
        route: exchange.route,
        status: response?.status.code ?? 499, bytes: exchange.method == "HEAD" ? 0 : response?.body.count ?? 0,
        duration: now - exchange.start, isComplete: isComplete && response != nil))
  }
}
