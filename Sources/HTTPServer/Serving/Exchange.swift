internal import Platform

/// One request and its answer, between the network thread that moves bytes and the task that handles them.
///
/// One lock guards the state, the suspended connection and the waiting reader together: what suspends and what resumes
/// cannot pass each other, so that no wake-up is lost.
package final class Exchange: Sendable {
  let requestID: RequestID
  let method: String
  let path: String
  /// As it was written; nil where none answers.
  let route: String?
  let start = ContinuousClock.now
  /// Whether the connection ends with this answer, whatever the client asks for.
  let isLast: Bool

  private struct Shared {
    var state: ExchangeState
    var suspended: SuspendedConnection?
    var reader: CheckedContinuation<Result<[UInt8]?, BodyError>, Never>?
    var sent: Response?
    var wasEarly = false
    var isOver = false
  }

  private let shared: Locked<Shared>

  init(requestID: RequestID, method: String, path: String, route: String?, isLast: Bool, state: ExchangeState) {
    self.requestID = requestID
    self.method = method
    self.path = path
    self.route = route
    self.isLast = isLast
    shared = Locked(Shared(state: state))
  }

  // MARK: The network thread

  /// Reports what libmicrohttpd's request callback brought, suspending the connection if that is the decision.
  func report(_ upload: UnsafeBufferPointer<UInt8>, on connection: OpaquePointer) -> ExchangeState.Step {
    let (step, wake) = shared.withLock { shared in
      let step: ExchangeState.Step
      if !upload.isEmpty {
        step = shared.state.arrived(Array(upload))
      } else if shared.state.isAtHead {
        step = shared.state.headArrived()
      } else {
        step = shared.state.ended()
      }
      if case .suspend = step { shared.suspended = SuspendedConnection(suspending: connection) }
      if case .answer(let response, let isEarly) = step {
        shared.sent = response
        shared.wasEarly = isEarly
      }
      return (step, Self.wakeReader(&shared))
    }
    wake?()
    return step
  }

  /// What was sent and whether it left before the body had come.
  var outcome: (response: Response?, wasEarly: Bool) {
    shared.withLock { ($0.sent, $0.wasEarly) }
  }

  // MARK: The handler's task

  /// The next bytes of the body, nil at its end.
  func nextChunk() async throws(BodyError) -> [UInt8]? {
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let wake = shared.withLock { shared in
          shared.reader = continuation
          let wake = Self.wakeReader(&shared)
          Self.resumeIfPossible(&shared)
          return wake
        }
        wake?()
      }
    } onCancel: {
      fail(.cancelled)
    }
    return try result.get()
  }

  /// Answers; the first answer counts.
  func answer(_ response: Response) {
    let isTaken = shared.withLock { shared in
      let isTaken = !shared.isOver && shared.state.answer(response)
      Self.resumeIfPossible(&shared)
      return isTaken
    }
    if !isTaken { response.body.stream?.end() }
  }

  /// Lets the reader fail; with `cutting` the connection is closed without an answer.
  func fail(_ error: BodyError, cutting: Bool = false) {
    let wake = shared.withLock { shared in
      shared.state.fail(error, cutting: cutting)
      Self.resumeIfPossible(&shared)
      return Self.wakeReader(&shared)
    }
    wake?()
  }

  /// The request is over for libmicrohttpd: its connection must not be touched again.
  func finish() {
    let (wake, response) = shared.withLock { shared in
      shared.isOver = true
      shared.suspended = nil
      shared.state.fail(.disconnected, cutting: true)
      return (Self.wakeReader(&shared), shared.sent ?? shared.state.takeAnswer())
    }
    wake?()
    response?.body.stream?.end()
  }

  // MARK: Under the lock

  private static func resumeIfPossible(_ shared: inout Shared) {
    guard shared.state.canProceed, let suspended = shared.suspended else { return }
    shared.suspended = nil
    suspended.resume()
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
