internal import Platform

/// What a connection waits for, and what it may be closed for.
extension ConnectionStateMachine {
  /// What the network thread does with a socket that is ready.
  enum Readiness: Equatable {
    case receive
    /// Discard at most this number of bytes.
    case discard(Int)
    case write
    /// The client has closed its sending side.
    case finish
  }

  /// The events that the connection waits for.
  var wanted: EventPoll.Condition {
    switch state {
    case .idle, .receiving: .readable
    case .lingering(let discardable): discardable > 0 ? .readable : []
    case .sending(_, let sending) where sending.obstacle != .body: .writable
    case .waiting, .sending: peerFinished == nil ? .finished : []
    case .interrupted, .closed: []
    }
  }

  /// What is done for events of the socket; nil: nothing.
  func readiness(for found: EventPoll.Condition) -> Readiness? {
    switch state {
    case .idle, .receiving: found.contains(.readable) ? .receive : nil
    case .lingering(let discardable): found.contains(.readable) && discardable > 0 ? .discard(discardable) : nil
    case .sending where found.contains(.writable): .write
    case .waiting, .sending: found.contains(.finished) && peerFinished == nil ? .finish : nil
    case .interrupted, .closed: nil
    }
  }

  var isClosed: Bool { if case .closed = state { true } else { false } }
  var isInterrupted: Bool { if case .interrupted = state { true } else { false } }
  var isReceiving: Bool { if case .receiving = state { true } else { false } }
  var isWaiting: Bool { if case .waiting = state { true } else { false } }

  /// The request in progress.
  var exchange: Exchange? {
    switch state {
    case .receiving(let exchange), .waiting(let exchange), .sending(let exchange, _): exchange
    case .idle, .interrupted, .lingering, .closed: nil
    }
  }

  /// Whether the client has sent a part of a request, so that it waits for a response.
  var isWithinRequest: Bool {
    switch state {
    case .idle, .interrupted: input.isWithinHead
    case .receiving: true
    case .waiting, .sending, .lingering, .closed: false
    }
  }

  /// The number of received bytes that no request has taken yet, unless they are the body of that in progress, which counts for its
  /// credential soon.
  var unclaimedBytes: Int {
    if isClosed { return 0 }
    if let exchange, exchange.hasBody || claim == .credential { return 0 }
    return input.input.count
  }

  /// Whether the connection may be closed for others at a limit: it is idle, or its client has not authenticated and does not read
  /// or, at the limit of all connections, sends a body.
  func mayClose(at limit: Refusal, isAuthenticated: @autoclosure () -> Bool) -> Bool {
    if claim == .nothing { return false }
    return switch state {
    case .idle, .interrupted, .lingering: true
    case .receiving: limit == .connections && !isAuthenticated()
    case .sending(_, let sending): sending.obstacle == .socket && !isAuthenticated()
    case .waiting, .closed: false
    }
  }
}
