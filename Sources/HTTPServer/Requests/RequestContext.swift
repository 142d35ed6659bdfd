internal import Platform
import Telemetry

/// One request and its response, shared by the network thread that moves bytes and the task of the handler.
///
/// One lock guards the state, the waiting connection and the waiting reader together, so that no wake-up is lost.
package final class RequestContext: Sendable {
  let requestID: RequestID
  /// The method; empty if the request line is invalid.
  let method: String
  let path: String
  /// The version; HTTP/1.1 if the request line is invalid.
  let version: RequestHead.Version
  /// The header field `Origin`: the origin of the web page that sends the request.
  let origin: String?
  /// The template of the route; nil if there is none.
  let route: String?
  let client: IPAddress
  /// The header fields of every response.
  let commonFields: HeaderFields
  /// Whether the client of a late request continues behind the bytes that have arrived.
  let isResumable: Bool
  /// The maximum length of the body, in bytes.
  let maxBodyBytes: Int64
  /// The span of the request; nil if it is not traced.
  let trace: TraceContext?
  let start = ContinuousClock.now

  private struct Shared {
    var state: RequestState
    /// The share that the request uses; nil: its connection does.
    var shareHolder: ShareHolder?
    var waker: Waker?
    var reader: CheckedContinuation<Void, Never>?
    var sent: Response?
    /// The response to what is durable.
    var committed: Response?
    /// Encoded interim responses that have not been sent.
    var interim: [UInt8] = []
    /// Wakes the connection in any phase.
    var connection: Waker?
    var cancel: (@Sendable () -> Void)?
    var isAbandoned = false
    var isFinished = false
  }

  private let shared: Locked<Shared>

  /// - Parameters:
  ///   - head: nil if it is invalid.
  ///   - route: the template of the route; nil if there is none.
  ///   - bodyLimit: the length of a body that the route accepts, in bytes.
  init(
    requestID: RequestID, head: RequestHead?, route: String?, isResumable: Bool, bodyLimit: Int64, client: IPAddress,
    commonFields: HeaderFields, trace: TraceContext? = nil, state: RequestState
  ) {
    self.requestID = requestID
    method = head?.method ?? ""
    path = head?.target.path ?? ""
    version = head?.version ?? .http11
    origin = head?.headers["Origin"]
    self.route = route
    self.isResumable = isResumable
    maxBodyBytes = min(head?.contentLength ?? bodyLimit, bodyLimit)
    self.client = client
    self.commonFields = commonFields
    self.trace = trace
    shared = Locked(Shared(state: state))
  }

  // MARK: The network thread

  /// The next step after the head.
  func headArrived(_ waker: Waker) -> RequestState.Step { report(waker) { $0.state.headArrived() } }

  /// The next step after a chunk of the body.
  func arrived(_ chunk: [UInt8], _ waker: Waker) -> RequestState.Step { report(waker) { $0.state.arrived(chunk) } }

  /// The next step after the end of the request.
  func ended(_ waker: Waker) -> RequestState.Step { report(waker) { $0.state.ended() } }

  /// The next step of a connection that was woken.
  func resumed(_ waker: Waker) -> RequestState.Step { report(waker) { $0.state.resumed() } }

  /// The next step of a connection that answers in place of the handler, whose reads fail: what the handler responds to that failure
  /// comes too late. What was committed is the answer nevertheless.
  func refused(_ error: BodyError, _ response: Response, _ waker: Waker) -> RequestState.Step {
    report(waker) { shared in
      shared.state.respond(shared.committed ?? response)
      shared.state.fail(error, cutting: false)
      return shared.state.resumed()
    }
  }

  private func report(
    _ waker: Waker, _ change: (inout Shared) -> RequestState.Step
  ) -> RequestState.Step {
    let (step, wake) = shared.withLock { shared in
      let step = change(&shared)
      shared.connection = waker
      shared.waker = nil
      if case .wait = step { shared.waker = waker }
      if case .respond(let response, _) = step { shared.sent = response }
      return (step, Self.readerWaker(&shared))
    }
    wake?()
    return step
  }

  /// The response that was sent, if any.
  var sent: Response? { shared.withLock(\.sent) }

  /// Records that another response is sent than the handler's.
  func replaceSent(_ response: Response) { shared.withLock { $0.sent = response } }

  /// Removes and returns the interim responses to send now.
  func takeInterim() -> [UInt8] {
    shared.withLock { shared in
      defer { shared.interim = [] }
      return shared.interim
    }
  }

  /// Cancels the handler of a safe request, because the client has disconnected.
  func abandon() {
    let cancel = shared.withLock { shared in
      shared.isAbandoned = true
      defer { shared.cancel = nil }
      return shared.cancel
    }
    cancel?()
  }

  /// Whether the client has disconnected.
  var isAbandoned: Bool { shared.withLock(\.isAbandoned) }

  // MARK: The handler's task

  /// Reads the next chunk of the body; nil at its end.
  func nextChunk() async throws(BodyError) -> [UInt8]? {
    let read = await withTaskCancellationHandler {
      await readWhenPossible()
    } onCancel: {
      fail(.cancelled, cutting: false)
    }
    return try read.get()
  }

  /// Reads under the lock, which hands the bytes from the network thread to this one; the continuation says only that there are some.
  private func readWhenPossible() async -> Result<[UInt8]?, BodyError> {
    while true {
      let (read, waker) = shared.withLock { shared in (shared.state.read(), Self.takeWaker(&shared)) }
      waker?.wake()
      switch read {
      case .chunk(let chunk): return .success(chunk)
      case .end: return .success(nil)
      case .failure(let error): return .failure(error)
      case .wait: break
      }
      await withCheckedContinuation { continuation in
        let wake = shared.withLock { shared in
          shared.reader = continuation
          return Self.readerWaker(&shared)
        }
        wake?()
      }
    }
  }

  /// Calls `cancel` when the client disconnects, or immediately if it already has.
  func whenAbandoned(_ cancel: @escaping @Sendable () -> Void) {
    let isAbandoned = shared.withLock { shared in
      shared.cancel = cancel
      return shared.isAbandoned
    }
    if isAbandoned { cancel() }
  }

  /// Sets the response; only the first call has an effect.
  func respond(_ response: Response) {
    let (isAccepted, waker) = shared.withLock { shared in
      let isAccepted = !shared.isFinished && shared.state.respond(response)
      return (isAccepted, Self.takeWaker(&shared))
    }
    waker?.wake()
    if !isAccepted { response.body.stream?.end() }
  }

  /// Keeps the response to what the request has made durable: an error of what follows does not reach the client.
  func commit(_ response: Response) { shared.withLock { $0.committed = response } }

  /// Sets the response to an error; the response of the commit takes precedence if there was one.
  func respond(toFailure problem: Problem) {
    respond(shared.withLock(\.committed) ?? problem.response)
  }

  /// Sends an interim response, unless the client speaks HTTP/1.0 or the response is on its way.
  func sendInterim(_ status: Status, _ headers: HeaderFields) {
    guard version == .http11, let bytes = ResponseHead.bytes(status, headers) else { return }
    let connection = shared.withLock { shared in
      shared.interim += bytes
      return shared.connection
    }
    connection?.wake()
  }

  /// Closes the connection, unless there is a response.
  func endWithoutResponse() {
    let waker = shared.withLock { shared in
      shared.state.endWithoutResponse()
      return Self.takeWaker(&shared)
    }
    waker?.wake()
  }

  /// Lets the reader fail; with `cutting`, the connection is closed without a response.
  func fail(_ error: BodyError, cutting: Bool) {
    let (wake, waker) = shared.withLock { shared in
      shared.state.fail(error, cutting: cutting)
      return (Self.readerWaker(&shared), Self.takeWaker(&shared))
    }
    waker?.wake()
    wake?()
  }

  /// Lets the request use a share; returns the share that it does not use any more: the former one, or this one if the request has
  /// ended.
  func use(_ holder: ShareHolder) -> ShareHolder? {
    shared.withLock { shared in
      if shared.isFinished { return holder }
      defer { shared.shareHolder = holder }
      return shared.shareHolder
    }
  }

  /// The share that the request uses; nil: its connection does.
  var shareHolder: ShareHolder? { shared.withLock(\.shareHolder) }

  /// Whether the client is known and has authenticated.
  var isAuthenticated: Bool { shareHolder?.isCredential == true }

  /// Ends the request; a response that has not been sent is discarded.
  ///
  /// - Returns: the share that the request has used, if any.
  func finish() -> ShareHolder? {
    let (wake, response, holder) = shared.withLock { shared in
      shared.isFinished = true
      shared.cancel = nil
      shared.waker = nil
      shared.connection = nil
      shared.state.fail(.disconnected, cutting: true)
      return (Self.readerWaker(&shared), shared.sent ?? shared.state.takeResponse(), shared.shareHolder.take())
    }
    wake?()
    response?.body.stream?.end()
    return holder
  }

  // MARK: Under the lock

  /// Takes the waker of a connection that can proceed, which is called after the lock is released: waking is a system call.
  private static func takeWaker(_ shared: inout Shared) -> Waker? {
    shared.state.canProceed ? shared.waker.take() : nil
  }

  /// Returns a function that resumes the waiting reader, to be called after the lock is released; nil if it must wait.
  private static func readerWaker(_ shared: inout Shared) -> (@Sendable () -> Void)? {
    guard shared.state.canRead, let reader = shared.reader.take() else { return nil }
    return { reader.resume() }
  }
}
