internal import Platform

/// Accepts connections and moves their bytes. One thread uses it.
final class NetworkThread {
  /// The maximum number of bytes that are received at once. Each chunk of a fast upload costs a dozen system calls.
  private static let bufferBytes = 256 << 10
  /// The maximum number of connections that are accepted before other events are handled.
  private static let maxAccepted = 64
  /// The maximum number of connections whose timeouts are checked before other events are handled, because closing
  /// thousands of connections takes a while.
  private static let maxTicked = 128

  private let dispatcher: Dispatcher
  private let endpoint: NetworkEndpoint
  private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: bufferBytes, alignment: 16)
  private let tickInterval: Duration

  private var isListening = true
  /// A descriptor that is closed for a moment when the process has no other descriptor to accept a connection.
  private var spare: Descriptor?
  private var isAcceptingPaused = false
  private var connections: [UInt64: Connection] = [:]
  private var nextNumber: UInt64 = 2
  /// The connections whose timeouts have not been checked since the last tick.
  private var unticked: [UInt64] = []

  init(_ endpoint: NetworkEndpoint, dispatcher: Dispatcher) {
    self.dispatcher = dispatcher
    self.endpoint = endpoint
    let configuration = dispatcher.configuration
    let shortest = min(configuration.headTimeout, configuration.requestTimeout, configuration.heartbeat)
    tickInterval = min(.milliseconds(250), shortest / 4)
    spare = try? Descriptor(reading: "/dev/null")
  }

  deinit { buffer.deallocate() }

  /// Handles events until the mailbox ends the thread.
  func run() {
    var nextTick = ContinuousClock.now + tickInterval
    while true {
      for (key, found) in endpoint.poll.wait(for: timeout(until: nextTick)) {
        switch key {
        case NetworkEndpoint.mailboxKey: if !readMailbox() { return closeAll() }
        case NetworkEndpoint.listenerKey: accept()
        default: handle(key, found)
        }
      }
      let now = ContinuousClock.now
      if now >= nextTick {
        nextTick = now + tickInterval
        if isAcceptingPaused { watchListener(true) }
        if unticked.isEmpty { unticked = Array(connections.keys) }
      }
      for key in unticked.suffix(Self.maxTicked) { with(key) { $0.tick(at: now) } }
      unticked.removeLast(min(unticked.count, Self.maxTicked))
    }
  }

  /// The time to wait for an event; nil: without a limit.
  private func timeout(until nextTick: ContinuousClock.Instant) -> Duration? {
    if !unticked.isEmpty { return .zero }
    return connections.isEmpty && !isAcceptingPaused ? nil : max(.zero, ContinuousClock.now.duration(to: nextTick))
  }

  private func handle(_ number: UInt64, _ found: EventPoll.Condition) {
    guard let connection = connections[number] else { return }
    // A connection stays registered for events that it no longer needs, which saves two system calls for each request.
    // The registration is corrected when such an event occurs.
    if !found.subtracting(.broken).isSubset(of: connection.wanted) { watch(connection, for: connection.wanted) }
    connection.handle(found, buffer: buffer)
    update(connection)
  }

  /// Calls `act` with a connection and updates its registration.
  private func with(_ number: UInt64, _ act: (Connection) -> Void) {
    guard let connection = connections[number] else { return }
    act(connection)
    update(connection)
  }

  /// Registers a connection for the events that it waits for, or removes it if it is closed.
  private func update(_ connection: Connection) {
    let wanted = connection.wanted
    if !connection.isClosed, !connection.watched.isSuperset(of: wanted) {
      watch(connection, for: wanted.contains(.readable) ? [.readable, .finished] : wanted)
    }
    guard connection.isClosed else { return }
    connections[connection.number] = nil
    if !connection.isRejected { dispatcher.close(from: connection.peer, isReleased: connection.isAuthenticated) }
  }

  private func watch(_ connection: Connection, for conditions: EventPoll.Condition) {
    connection.watched = conditions
    do {
      try endpoint.poll.change(connection.descriptor, key: connection.number, to: conditions)
    } catch {
      connection.close()
    }
  }

  /// Handles the content of the mailbox; false if the thread must end.
  private func readMailbox() -> Bool {
    let mail = endpoint.mailbox.drain()
    for number in mail.connections { with(number) { $0.wake(buffer: buffer) } }
    if mail.isClosing {
      if isListening { endpoint.stopListening() }
      isListening = false
      for key in Array(connections.keys) { with(key) { $0.stop() } }
    }
    return !mail.isEnding
  }

  private func closeAll() {
    for key in Array(connections.keys) { with(key) { $0.close() } }
  }

  // MARK: Accepting

  private func accept() {
    for _ in 0..<Self.maxAccepted {
      // Another thread may have accepted the connection.
      guard isListening, let socket = acceptOne() else { return }
      let peer = socket.peer
      var refusal = dispatcher.open(from: peer)
      if let first = refusal, makeRoom(for: peer, at: first) { refusal = dispatcher.open(from: peer) }
      let connection = Connection(socket, number: nextNumber, dispatcher: dispatcher, mailbox: endpoint.mailbox)
      nextNumber += 1
      if let refusal {
        dispatcher.report(refusal, peer)
        connection.reject(refusal.problem)
      }
      connections[connection.number] = connection
      do {
        try endpoint.poll.add(connection.descriptor, key: connection.number, for: connection.watched)
      } catch {
        connection.close()
      }
      update(connection)
    }
  }

  private func acceptOne() -> StreamSocket? {
    do {
      return try StreamSocket.accept(from: endpoint.listener)
    } catch {
      // Out of descriptors or memory: one connection is accepted and closed, and accepting is paused.
      _ = makeRoom(for: nil, at: .connections)
      spare = nil
      let refused = try? StreamSocket.accept(from: endpoint.listener)
      if let refused { dispatcher.report(.connections, refused.peer) }
      spare = try? Descriptor(reading: "/dev/null")
      watchListener(false)
      return nil
    }
  }

  private func watchListener(_ isWatched: Bool) {
    isAcceptingPaused = !isWatched
    if isListening { endpoint.setAccepting(isWatched) }
  }

  /// Closes some of the connections that have been idle longest; false if no connection is idle.
  ///
  /// - Parameter peer: the new client; at the limit of its address, only connections from this address are closed.
  private func makeRoom(for peer: IPAddress?, at refusal: Refusal) -> Bool {
    let idle = connections.values.compactMap { connection in
      refusal == .address && connection.peer.site != peer?.site
        ? nil : connection.idleSince.map { (connection: connection, since: $0) }
    }
    // Several at once, because further connections are likely to follow.
    for (connection, _) in idle.sorted(by: { $0.since < $1.since }).prefix(max(1, idle.count / 16)) {
      dispatcher.report(refusal, connection.peer)
      if connection.isWithinHead {
        dispatcher.close(from: connection.peer, isReleased: false)
        connection.reject(refusal.problem)
      } else {
        connection.close()
      }
      update(connection)
    }
    return !idle.isEmpty
  }
}

extension Refusal {
  fileprivate var problem: Problem {
    switch self {
    case .connections: .tooManyConnections
    case .address: .tooManyFromAddress
    case .streams: .tooManyStreams
    }
  }
}
