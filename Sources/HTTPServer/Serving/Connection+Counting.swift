internal import Platform

/// What a connection has counted for its client.
struct CountedLoad {
  /// The bytes that count for the address until a request takes them.
  var input = 0
  /// The bytes of a response that count for the client until it reads them.
  var output = 0
  var outputHolder: ShareHolder?
  /// Whether the response is counted as a stream.
  var hasStream = false
}

extension Connection {
  /// Whether the connection may be closed for others at a limit.
  func mayClose(at limit: Refusal) -> Bool {
    machine.mayClose(at: limit, isAuthenticated: context?.isAuthenticated == true)
  }

  /// The share that the connection uses; nil for a trusted proxy without a request, and for a connection that is not counted.
  var shareHolder: ShareHolder? {
    isRejected || isClosed ? nil : context?.shareHolder ?? dispatcher.shareHolder(of: peer)
  }

  /// Stops counting the connection for its address once its request counts for a credential.
  func releaseAddress() {
    guard machine.claim == .address, context?.isAuthenticated == true, machine.authenticated() else { return }
    dispatcher.release(peer)
  }

  /// Counts what no request has taken yet; without room for it, the address has too many requests.
  func countInput() {
    let count = machine.unclaimedBytes
    guard count != counted.input else { return }
    if dispatcher.countInput(count - counted.input, from: peer) {
      counted.input = count
    } else {
      dispatcher.report(.address, .address(peer))
      run(machine.exceeded(), at: .now)
    }
  }

  /// Counts the bytes of a response that wait for the client to read; one that has more of them than its share is not waited for.
  func countOutput(_ bytes: Int) -> Action? {
    guard bytes != counted.output, let holder = counted.outputHolder ?? shareHolder else { return nil }
    if dispatcher.countOutput(bytes - counted.output, of: holder) {
      (counted.output, counted.outputHolder) = (bytes, holder)
      return nil
    }
    dispatcher.report(holder.limit, holder)
    return machine.close(isUnread: true)
  }

  /// Ends the request in progress.
  func endRequest(isComplete: Bool) {
    guard let context else { return }
    if let holder = counted.outputHolder { _ = dispatcher.countOutput(-counted.output, of: holder) }
    (counted.output, counted.outputHolder) = (0, nil)
    if counted.hasStream { dispatcher.endStream() }
    counted.hasStream = false
    dispatcher.end(context, isComplete: isComplete, isLogged: !isRejected)
    if machine.ended() { dispatcher.resume(peer) }
    self.context = nil
  }
}
