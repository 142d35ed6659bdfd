import Glibc
internal import Platform

/// Where connections come in, and how a network thread waits; made before the thread, so that what fails is told.
final class NetworkEndpoint: Sendable {
  static let mailboxKey: UInt64 = 0
  static let listenerKey: UInt64 = 1

  let listener: Descriptor
  let mailbox: Mailbox
  let poll: EventPoll

  /// - Parameter listener: a listening socket, which several endpoints may share.
  init(_ listener: consuming Descriptor) throws(SystemError) {
    mailbox = try Mailbox()
    poll = try EventPoll()
    try poll.add(mailbox.number, key: Self.mailboxKey, for: .readable)
    try poll.add(listener.number, key: Self.listenerKey, for: .readable)
    self.listener = listener
  }

  /// Accepts connections, or leaves them in the system's queue for a while.
  func listen(_ isListening: Bool) {
    try? poll.change(listener.number, key: Self.listenerKey, to: isListening ? .readable : [])
  }

  /// Lets the system refuse connections from now on, for all that share the socket.
  func stopListening() {
    poll.remove(listener.number)
    shutdown(listener.number, Int32(SHUT_RDWR))
  }
}

/// Accepts connections and moves their bytes: one thread's work, which nothing else touches.
final class NetworkThread {
  private static let bufferBytes = 64 << 10
  /// So many are accepted before others have a turn.
  private static let maxAccepted = 64
  /// So many are looked at as time passes before others have a turn: to close thousands at once takes a while.
  private static let maxTicked = 128

  private let reception: Dispatcher
  private let endpoint: NetworkEndpoint
  private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: bufferBytes, alignment: 16)
  private let tickInterval: Duration

  private var isListening = true
  /// Given up for a moment where the process has no descriptor left to accept with.
  private var spare: Descriptor?
  private var isAcceptingPaused = false
  private var connections: [UInt64: Connection] = [:]
  private var nextNumber: UInt64 = 2
  /// Those that are still to be told that time has passed.
  private var unticked: [UInt64] = []

  init(_ endpoint: NetworkEndpoint, reception: Dispatcher) {
    self.reception = reception
    self.endpoint = endpoint
    let configuration = reception.configuration
    let shortest = min(configuration.headDeadline, configuration.requestDeadline, configuration.heartbeat)
    tickInterval = min(.milliseconds(250), shortest / 4)
    spare = try? Descriptor(reading: "/dev/null")
  }

  deinit { buffer.deallocate() }

  /// Works until the mailbox says that it is over.
  func run() {
    var nextTick = ContinuousClock.now + tickInterval
    while true {
      for (key, found) in endpoint.poll.wait(for: timeout(until: nextTick)) {
        switch key {
        case NetworkEndpoint.mailboxKey: if !readMail() { return closeAll() }
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

  /// How long to wait for something to happen; nil: for ever.
  private func timeout(until nextTick: ContinuousClock.Instant) -> Duration? {
    if !unticked.isEmpty { return .zero }
    return connections.isEmpty && !isAcceptingPaused ? nil : max(.zero, ContinuousClock.now.duration(to: nextTick))
  }

  private func handle(_ number: UInt64, _ found: EventPoll.Condition) {
    guard let connection = connections[number] else { return }
    // More is watched than is wanted, which saves two calls for each request, until it is found in vain.
    if !found.subtracting(.broken).isSubset(of: connection.wanted) { watch(connection, for: connection.wanted) }
    connection.handle(found, buffer: buffer)
    settle(connection)
  }

  /// Does something with a connection, and watches it for what it waits for then.
  private func with(_ number: UInt64, _ act: (Connection) -> Void) {
    guard let connection = connections[number] else { return }
    act(connection)
    settle(connection)
  }

  private func settle(_ connection: Connection) {
    let wanted = connection.wanted
    if !connection.isClosed, !connection.watched.isSuperset(of: wanted) {
      watch(connection, for: wanted.contains(.readable) ? [.readable, .finished] : wanted)
    }
    guard connection.isClosed else { return }
    connections[connection.number] = nil
    if !connection.isTurnedAway { reception.close(from: connection.peer, isReleased: connection.isKeyed) }
  }

  private func watch(_ connection: Connection, for conditions: EventPoll.Condition) {
    connection.watched = conditions
    do {
      try endpoint.poll.change(connection.descriptor, key: connection.number, to: conditions)
    } catch {
      connection.close()
    }
  }

  /// Whether to go on.
  private func readMail() -> Bool {
    let mail = endpoint.mailbox.empty()
    for number in mail.connections { with(number) { $0.wake() } }
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
      // Another thread may have been quicker.
      guard isListening, let socket = acceptOne() else { return }
      let peer = socket.peer
      var refusal = reception.open(from: peer)
      if let first = refusal, makeRoom(for: peer, at: first) { refusal = reception.open(from: peer) }
      let connection = Connection(socket, number: nextNumber, reception: reception, mailbox: endpoint.mailbox)
      nextNumber += 1
      if let refusal {
        reception.note(refusal, peer)
        connection.turnAway(refusal.problem)
      }
      connections[connection.number] = connection
      do {
        try endpoint.poll.add(connection.descriptor, key: connection.number, for: connection.watched)
      } catch {
        connection.close()
      }
      settle(connection)
    }
  }

  private func acceptOne() -> StreamSocket? {
    do {
      return try StreamSocket.accept(from: endpoint.listener)
    } catch {
      // Out of descriptors or memory: the client is told by a connection that ends, and others are accepted later.
      _ = makeRoom(for: nil, at: .connections)
      spare = nil
      let turnedAway = try? StreamSocket.accept(from: endpoint.listener)
      if let turnedAway { reception.note(.connections, turnedAway.peer) }
      spare = try? Descriptor(reading: "/dev/null")
      watchListener(false)
      return nil
    }
  }

  private func watchListener(_ isWatched: Bool) {
    isAcceptingPaused = !isWatched
    if isListening { endpoint.listen(isWatched) }
  }

  /// Closes some of the connections that have been idle longest; false where none is idle.
  ///
  /// - Parameter peer: who wants room; at the limit of its address only its own connections make it.
  private func makeRoom(for peer: IPAddress?, at refusal: Refusal) -> Bool {
    let idle = connections.values.compactMap { connection in
      refusal == .address && connection.peer.site != peer?.site
        ? nil : connection.idleSince.map { (connection: connection, since: $0) }
    }
    // Several at once: those who fill a server do not stop after one.
    for (connection, _) in idle.sorted(by: { $0.since < $1.since }).prefix(max(1, idle.count / 16)) {
      reception.note(refusal, connection.peer)
      if connection.isWithinHead {
        reception.close(from: connection.peer, isReleased: false)
        connection.turnAway(refusal.problem)
      } else {
        connection.close()
      }
      settle(connection)
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
