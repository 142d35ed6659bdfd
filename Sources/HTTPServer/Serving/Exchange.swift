internal import Platform

/// One request and its answer, between the network thread that moves bytes and the task that handles them.
///
/// One lock guards the state, the connection that waits and the reader that waits together: what waits and what wakes
/// cannot pass each other, so that no wake-up is lost.
package final class Exchange: Sendable {
  let requestID: RequestID
  /// Empty where the request line could not be read.
  let method: String
  let path: String
  /// HTTP/1.1 where the request line could not be read.
  let version: RequestHead.Version
  /// As it was written; nil where none answers.
  let route: String?
  let client: IPAddress
  /// The address whose request it counts as, if any.
  let countedAddress: IPAddress?
  let start = ContinuousClock.now

  private struct Shared {
    var state: ExchangeState
    var waker: Waker?
    var reader: CheckedContinuation<Result<[UInt8]?, BodyError>, Never>?
    var sent: Response?
    var cancel: (@Sendable () -> Void)?
    var isAbandoned = false
    var isOver = false
  }

  private let shared: Locked<Shared>

  init(
    requestID: RequestID, head: RequestHead?, route: String?, client: IPAddress, countedAddress: IPAddress?,
    state: ExchangeState
  ) {
    self.requestID = requestID
    method = head?.method ?? ""
    path = head?.target.path ?? ""
    version = head?.version ?? .http11
    self.route = route
    self.client = client
    self.countedAddress = countedAddress
    shared = Locked(Shared(state: state))
  }

  // MARK: The network thread

  /// What comes next after the head.
  func headArrived(_ waker: Waker) -> ExchangeState.Step { report(waker) { $0.headArrived() } }

  /// What comes next after bytes of the body.
  func arrived(_ chunk: [UInt8], _ waker: Waker) -> ExchangeState.Step { report(waker) { $0.arrived(chunk) } }

  /// What comes next after the end of the request.
  func ended(_ waker: Waker) -> ExchangeState.Step { report(waker) { $0.ended() } }

  /// What comes next for a connection that was woken.
  func resumed(_ waker: Waker) -> ExchangeState.Step { report(waker) { $0.resumed() } }

  private func report(
    _ waker: Waker, _ change: (inout ExchangeState) -> ExchangeState.Step
  ) -> ExchangeState.Step {
    let (step, wake) = shared.withLock { shared in
      let step = change(&shared.state)
      shared.waker = nil
      if case .wait = step { shared.waker = waker }
      if case .answer(let response, _) = step { shared.sent = response }
      return (step, Self.wakeReader(&shared))
    }
    wake?()
    return step
  }

  /// What was sent, if anything was.
  var sent: Response? { shared.withLock(\.sent) }

  /// Something else is sent than was answered.
  func sends(_ response: Response) { shared.withLock { $0.sent = response } }

  /// The client is gone: a handler that said how is cancelled.
  func abandon() {
    let cancel = shared.withLock { shared in
      shared.isAbandoned = true
      defer { shared.cancel = nil }
      return shared.cancel
    }
    cancel?()
  }

  /// Whether the client is gone.
  var isAbandoned: Bool { shared.withLock(\.isAbandoned) }

  // MARK: The handler's task

  /// The next bytes of the body, nil at its end.
  func nextChunk() async throws(BodyError) -> [UInt8]? {
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let wake = shared.withLock { shared in
          shared.reader = continuation
          let wake = Self.wakeReader(&shared)
          Self.wakeIfPossible(&shared)
          return wake
        }
        wake?()
      }
    } onCancel: {
      fail(.cancelled, cutting: false)
    }
    return try result.get()
  }

  /// Calls `cancel` once the client is gone, which may be now.
  func whenAbandoned(_ cancel: @escaping @Sendable () -> Void) {
    let isAbandoned = shared.withLock { shared in
      shared.cancel = cancel
      return shared.isAbandoned
    }
    if isAbandoned { cancel() }
  }

  /// Answers; the first answer counts.
  func answer(_ response: Response) {
    let isTaken = shared.withLock { shared in
      let isTaken = !shared.isOver && shared.state.answer(response)
      Self.wakeIfPossible(&shared)
      return isTaken
    }
    if !isTaken { response.body.stream?.end() }
  }

  /// Ends without an answer, if there is none.
  func giveUp() {
    shared.withLock { shared in
      shared.state.giveUp()
      Self.wakeIfPossible(&shared)
    }
  }

  /// Lets the reader fail; with `cutting` the connection is closed without an answer.
  func fail(_ error: BodyError, cutting: Bool) {
    let wake = shared.withLock { shared in
      shared.state.fail(error, cutting: cutting)
      Self.wakeIfPossible(&shared)
      return Self.wakeReader(&shared)
    }
    wake?()
  }

  /// The request is over: what was not sent by now is not sent any more.
  func finish() {
    let (wake, response) = shared.withLock { shared in
      shared.isOver = true
      shared.cancel = nil
      shared.waker = nil
      shared.state.fail(.disconnected, cutting: true)
      return (Self.wakeReader(&shared), shared.sent ?? shared.state.takeAnswer())
    }
    wake?()
    response?.body.stream?.end()
  }

  // MARK: Under the lock

  private static func wakeIfPossible(_ shared: inout Shared) {
    guard shared.state.canProceed, let waker = shared.waker else { return }
    shared.waker = nil
    waker.wake()
  }

  /// What wakes the reader, to be called after the lock is released.
  private static func wakeReader(_ shared: inout Shared) -> (@Sendable () -> Void)? {
    guard let reader = shared.reader else { return nil }
    let result: Result<[UInt8]?, BodyError>
    switch shared.state.read() {
    case .chunk(let chunk): result = .success(chunk)
    case .end: result = .success(nil)
    case .failure(let error): result = .failure(error)
    case .wait: return nil
    }
    shared.reader = nil
    return { reader.resume(returning: result) }
  }
}
