/// The events of a response, and the ends of a connection.
extension ConnectionStateMachine {
  /// The time in which a client that may send no more reads the response.
  private static let blockedTimeout = Duration.seconds(5)
  /// The time in which a client whose connection is not counted reads the response.
  private static let rejectedTimeout = Duration.seconds(1)

  // MARK: The response

  /// The head of a response has been encoded.
  mutating func send(isLast: Bool, until deadline: Instant, at now: Instant) -> Action? {
    guard case .receiving(let exchange) = resumed(state) else { return next() }
    state = .sending(exchange, Sending(isLast: isLast))
    lastProgress = now
    self.deadline = deadline
    return next()
  }

  /// The socket has accepted a part of the response.
  mutating func sent(_ result: ResponseWriter.SendResult, at now: Instant) -> Action? {
    guard case .sending(let exchange, var sending) = state else { return pause() }
    switch result {
    case .done: return .end(finish(exchange, isLast: sending.isLast, at: now))
    case .failed: return close()
    case .blocked:
      lastProgress = now
      sending.obstacle = .socket
    case .waiting: sending.obstacle = .body
    }
    state = .sending(exchange, sending)
    return pause()
  }

  private mutating func finish(_ exchange: Exchange, isLast: Bool, at now: Instant) -> Ending {
    (lastProgress, lastUnread) = (now, .max)
    guard isLast else {
      state = .idle
      deadline = now + times.head
      return .persists
    }
    if exchange.endsConnection == true, input.isBetweenRequests {
      state = .closed
      return .closes
    }
    state = .lingering(discardable: Self.maxDiscardedBytes)
    input = RequestReader(limits: headLimits)
    deadline = now + (claim == .nothing ? Self.rejectedTimeout : times.linger)
    return .lingers
  }

  /// Bytes have been discarded.
  mutating func discarded(_ count: Int, at now: Instant) {
    guard case .lingering(let discardable) = state else { return }
    state = .lingering(discardable: max(0, discardable - count))
    lastProgress = now
    if count >= discardable { deadline = min(deadline, now + Self.blockedTimeout) }
  }

  /// The client has closed its sending side while it waits for a response.
  mutating func finished(isStreaming: Bool, at now: Instant) -> Action? {
    switch state {
    case .waiting, .sending:
      peerFinished = now
      return isStreaming ? close() : nil
    case .idle, .interrupted, .receiving, .lingering, .closed: return nil
    }
  }

  // MARK: Refusals

  /// The connection exceeds a limit; from now on it is not counted.
  mutating func reject(_ problem: Problem) -> Action? {
    claim = .nothing
    switch state {
    case .idle, .interrupted, .receiving, .waiting: return .refuse(problem)
    case .sending, .lingering, .closed: return close(isUnread: true)
    }
  }

  /// The address has no room for the received bytes.
  mutating func exceeded() -> Action? {
    // Another request is in progress: a client repeats those behind it (RFC 9112, section 9.3.2).
    exchange == nil && !isClosed ? .refuse(.tooManyFromAddress) : close()
  }

  // MARK: Time

  /// Time has passed.
  ///
  /// - Parameter isCut: whether the stream of the response has been cut.
  mutating func tick(isCut: Bool, at now: Instant) -> Action? {
    let isLate = now >= deadline
    let isInactive = now - lastProgress > times.idle
    switch state {
    case .idle, .interrupted:
      // Between two requests, the connection is closed without a response.
      if input.isWithinHead { return isLate ? .refuse(.tooSlow) : nil }
      return isInactive ? .checkUnread : nil
    case .receiving(let exchange):
      return isLate || isInactive || exchange.bodyTime?.isOver(at: now) == true ? timeOut(exchange) : nil
    case .waiting(let exchange):
      if isLate { return timeOut(exchange) }
      return peerFinished.map { now - $0 >= times.halfClose } == true ? .abandon : nil
    case .sending(_, let sending):
      return isLate || isCut || (sending.obstacle == .socket && isInactive) ? close(isUnread: true) : nil
    case .lingering: return isLate || isInactive ? .checkUnread : nil
    case .closed: return nil
    }
  }

  /// Clients repeat a request that gets no response, and few one that gets 408: a client that can go on gets none.
  private func timeOut(_ exchange: Exchange) -> Action { exchange.isResumable ? .cut : .timeOut }

  /// The system keeps this number of bytes of an idle connection that the client has not acknowledged: the client of a slow link
  /// still reads what the system has taken ahead.
  mutating func foundUnread(_ unread: Int, at now: Instant) -> Action? {
    guard claim != .nothing, unread > 0, unread < lastUnread else { return close(isUnread: true) }
    (lastUnread, lastProgress) = (unread, now)
    deadline = now + times.linger
    return nil
  }

  // MARK: The end

  /// The server is stopping.
  mutating func stop() -> Action? {
    switch state {
    case .idle: input.isWithinHead ? nil : close()
    case .sending: .finishStream
    case .interrupted, .receiving, .waiting, .lingering, .closed: nil
    }
  }

  /// The connection ends in any state.
  mutating func close(isUnread: Bool = false) -> Action? {
    if isClosed { return nil }
    state = .closed
    return .close(isUnread: isUnread)
  }
}
