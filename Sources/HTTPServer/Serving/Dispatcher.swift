internal import Platform
import Telemetry

/// Dispatches each request to its route's handler, or refuses it; shared by all network threads.
final class Dispatcher: Sendable {
  /// The number of file descriptors that remain for blobs, databases and other uses.
  private static let reservedFiles = 512

  let configuration: ServerConfiguration
  let headLimits: HeadParser.Limits
  let requests = ActivityCount()
  private let handlers: HandlerTasks
  private let router: Locked<Router>
  private let observer: ServerObserver
  private let limits: Locked<ConnectionLimits>
  private let closing = CancellationFlag()

  init(configuration: ServerConfiguration, handlers: HandlerTasks, router: Router, observer: ServerObserver) {
    self.configuration = configuration
    self.handlers = handlers
    self.router = Locked(router)
    self.observer = observer
    headLimits = HeadParser.Limits(requestLine: configuration.requestLineBytes, head: configuration.headBytes)
    limits = Locked(
      ConnectionLimits(
        configuration,
        connections: min(configuration.maxConnections, max(64, ThisProcess.openFilesLimit - Self.reservedFiles))))
  }

  /// Whether the server refuses further requests.
  var isClosing: Bool { closing.isCancelled }

  /// Refuses further requests with 503.
  func close() { closing.cancel() }

  /// Serves the requests that begin from now on by other routes.
  func use(_ router: Router) { self.router.withLock { $0 = router } }

  /// The current numbers of connections, requests and streams.
  var load: ServerLoad {
    let (connections, streams) = limits.withLock { ($0.connections, $0.streams) }
    return ServerLoad(connections: connections, requests: requests.count, streams: streams)
  }

  // MARK: Connections

  /// Counts a connection; returns the reason if a limit does not permit it.
  func open(from peer: IPAddress) -> Refusal? {
    let holder = shareHolder(of: peer)
    return limits.withLock { limits in
      if let holder, !limits.begin(holder) { return .address }
      guard limits.open() else {
        if let holder { limits.end(holder) }
        return .connections
      }
      return nil
    }
  }

  /// Removes a closed connection from the count.
  func close(from peer: IPAddress) {
    let holder = shareHolder(of: peer)
    limits.withLock { limits in
      limits.close()
      if let holder { limits.end(holder) }
    }
  }

  /// Stops counting a connection for its address while a request counts for the credential.
  func release(_ peer: IPAddress) {
    if let holder = shareHolder(of: peer) { limits.withLock { $0.end(holder) } }
  }

  /// Counts a connection for its address again, after an authenticated request.
  func resume(_ peer: IPAddress) {
    if let holder = shareHolder(of: peer) { limits.withLock { $0.resume(holder) } }
  }

  /// Counts bytes that no request has taken yet; false if the address has no room for them.
  func countInput(_ bytes: Int, from peer: IPAddress) -> Bool {
    guard let holder = shareHolder(of: peer) else { return true }
    return limits.withLock { $0.countInput(bytes, of: holder) }
  }

  /// Counts bytes of responses that wait for a client to read; false if its share has no room for them.
  func countOutput(_ bytes: Int, of holder: ShareHolder) -> Bool {
    limits.withLock { $0.countOutput(bytes, of: holder) }
  }

  /// The share that a connection uses, other than an authenticated request; nil for a trusted proxy.
  func shareHolder(of peer: IPAddress) -> ShareHolder? { isTrusted(peer) ? nil : .address(peer.site) }

  /// How much of their shares clients use.
  func counts(of holders: [ShareHolder?]) -> [Int] {
    limits.withLock { limits in holders.map { $0.map(limits.count) ?? 0 } }
  }

  /// How many connections of an address must be closed before there is room for one more.
  func excess(of peer: IPAddress) -> Int { limits.withLock { $0.excess(of: .address(peer.site)) } }

  /// Counts a stream; false if the limit does not permit it.
  func beginStream() -> Bool { limits.withLock { $0.openStream() } }

  func endStream() { limits.withLock { $0.closeStream() } }

  func report(_ refusal: Refusal, _ client: ShareHolder) { observer.onRefusal(refusal, client) }

  private func isTrusted(_ address: IPAddress) -> Bool {
    configuration.trustedProxies.contains { $0.contains(address) }
  }

  // MARK: Requests

  /// Starts a request by its head.
  func begin(_ head: RequestHead, from peer: IPAddress) -> RequestContext {
    let id = head.headers[RequestID.headerName].flatMap(RequestID.init) ?? RequestID()
    var client = peer
    let router = router.withLock(\.self)
    let commonFields = router.commonFields(head)
    func start(_ route: Route?) -> RequestContext {
      requests.begin()
      let bodyLimit = route?.bodyLimit ?? 0
      return RequestContext(
        requestID: id, head: head, route: route?.template, isResumable: route?.isResumable ?? false,
        bodyLimit: bodyLimit, client: client, commonFields: commonFields, trace: observer.trace(head),
        state: RequestState(
          hasBody: head.hasBody, limits: .init(body: bodyLimit, buffered: configuration.bufferedBytes)))
    }
    func refuse(_ problem: Problem) -> RequestContext {
      let context = start(nil)
      context.respond(problem.response)
      return context
    }

    do throws(Problem) {
      client = try head.headers.client(from: peer, isTrusted: isTrusted)
    } catch {
      return refuse(error)
    }
    if isClosing { return refuse(.stopping) }
    if let preflight = configuration.allowedOrigins.preflight(head) {
      let context = start(nil)
      context.respond(preflight)
      return context
    }
    do throws(Problem) {
      let match = try router.match(head, from: client)
      if let length = head.contentLength, length > match.route.bodyLimit {
        throw .bodyTooLarge(limit: match.route.bodyLimit)
      }
      // The connections of a trusted proxy do not count; the concurrent requests of each client behind it do.
      if let problem = match.route.diskProblem, handlers.isDiskStuck { throw problem }
      let holder = match.shareHolder ?? (client == peer ? nil : .address(client.site))
      if let holder, match.route.answer == nil { try take(holder) }
      let context = start(match.isRefused ? nil : match.route)
      let request = Request(
        head: head, id: id, client: client, isProxied: isTrusted(peer), principal: Anonymous(),
        parameters: match.parameters,
        body: RequestBody(context: context))
      if let answer = match.route.answer {
        context.respond(Self.response(to: request, answer))
        return context
      }
      if let holder { _ = context.use(holder) }
      let onStuck = match.route.diskProblem.map { problem in
        { @Sendable in
          context.respond(toFailure: self.problem(for: problem, request))
          context.fail(.cancelled, cutting: false)
        }
      }
      let task = handlers.start(for: holder ?? .address(client.site), onStuck: onStuck) {
        await self.handle(request, match, context)
      }
      if match.route.isSafe { context.whenAbandoned { task.cancel() } }
      return context
    } catch {
      return refuse(error)
    }
  }

  /// Runs the handler for the client of the admission, and responds with its result or error.
  private func handle(_ request: Request, _ match: Router.Match, _ context: RequestContext) async {
    var request = request
    do {
      switch match.admitted {
      case .known(let principal): request.principal = principal
      case .pending(let admit):
        request.principal = try await admit()
        if let holder = request.principal.shareHolder {
          try take(holder)
          if let former = context.use(holder) { limits.withLock { $0.end(former) } }
        }
      }
      guard let trace = context.trace, trace.isSampled else {
        return context.respond(try await match.route.handler(request))
      }
      let response = try await TaskScope.$current.withValue(TraceScope(trace)) { [request] in
        try await match.route.handler(request)
      }
      context.respond(response)
    } catch {
      // A handler that was cancelled because its client has disconnected needs no response.
      if context.isAbandoned { return context.endWithoutResponse() }
      context.respond(toFailure: problem(for: error, request))
    }
  }

  private static func response(to request: Request, _ answer: Route.Answer) -> Response {
    do throws(Problem) { return try answer(request) } catch { return error.response }
  }

  /// Counts a request for a share; throws a problem with status 429 if it is used up.
  private func take(_ holder: ShareHolder) throws(Problem) {
    guard limits.withLock({ $0.begin(holder) }) else {
      report(holder.limit, holder)
      throw holder.isCredential ? .tooManyOfCredential : .tooManyFromAddress
    }
  }

  /// Starts a request for input that is not a valid request, with its response.
  func refuse(_ problem: Problem, from peer: IPAddress) -> RequestContext {
    requests.begin()
    let context = RequestContext(
      requestID: RequestID(), head: nil, route: nil, isResumable: false, bodyLimit: 0, client: peer, commonFields: [:],
      state: RequestState(hasBody: true, limits: .init(body: 0, buffered: 0)))
    context.respond(problem.response)
    return context
  }

  private func problem(for error: any Error, _ request: Request) -> Problem {
    switch error {
    case let problem as Problem:
      if let cause = problem.cause { observer.onOutage(cause, request) }
      return problem
    case let error as BodyError: return error.problem
    case is CancellationError: return .stopping
    default:
      observer.onFailure(error, request)
      return .internalError(request.id)
    }
  }

  /// Ends a request.
  ///
  /// - Parameter isLogged: whether the access log has an entry; connections over the limit are only counted.
  func end(_ context: RequestContext, isComplete: Bool, isLogged: Bool) {
    defer { requests.end() }
    if let holder = context.finish() { limits.withLock { $0.end(holder) } }
    guard isLogged else { return }
    let response = context.sent
    observer.onAccess(
      AccessRecord(
        requestID: context.requestID, method: context.method, path: context.path, route: context.route,
        client: context.client, status: response?.status.code ?? 499,
        bytes: context.method == "HEAD" ? 0 : response?.body.count ?? 0, duration: context.start.duration(to: .now),
        isComplete: isComplete && response != nil, trace: context.trace))
  }
}
