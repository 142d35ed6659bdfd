import Glibc
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

  /// The maximum number of connections of a site that are handled before those of others, and before new ones are accepted: one with
  /// hundreds of long heads would delay everybody by all of them.
  private static let maxHandled = 16

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
  /// The time before which no busy connection is looked for to be closed, because there was none.
  private var nextEviction = ContinuousClock.now
  /// The connections with requests that wait for a turn, each once.
  private var interrupted: [UInt64] = []
  /// The connections whose timeouts have not been checked since the last tick.
  private var unticked: [UInt64] = []

  init(_ endpoint: NetworkEndpoint, dispatcher: Dispatcher) {
    self.dispatcher = dispatcher
    self.endpoint = endpoint
    let configuration = dispatcher.configuration
    let shortest = min(
      configuration.headTimeout, configuration.requestTimeout, configuration.shortBodyTimeout,
      configuration.bodyTimeout, configuration.heartbeat)
    tickInterval = min(.milliseconds(250), shortest / 4)
    spare = try? Descriptor(reading: "/dev/null")
  }

  deinit { buffer.deallocate() }

  /// Handles events until the mailbox ends the thread.
  func run() {
    var nextTick = ContinuousClock.now + tickInterval
    while true {
      var handled: [IPAddress: Int] = [:]
      for (key, found) in endpoint.poll.wait(for: timeout(until: nextTick)) {
        switch key {
        case NetworkEndpoint.mailboxKey: if !readMailbox() { return closeAll() }
        case NetworkEndpoint.listenerKey: accept()
        default: handle(key, found, &handled)
        }
      }
      goOn()
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

  /// Gives some of the connections whose clients have sent many requests their next turns, one after the other.
  private func goOn() {
    let turns = interrupted.prefix(Self.maxHandled)
    interrupted.removeFirst(turns.count)
    for number in turns { with(number) { $0.goOn() } }
  }

  /// The time to wait for an event; nil: without a limit.
  private func timeout(until nextTick: ContinuousClock.Instant) -> Duration? {
    if !unticked.isEmpty || !interrupted.isEmpty { return .zero }
    return connections.isEmpty && !isAcceptingPaused ? nil : max(.zero, ContinuousClock.now.duration(to: nextTick))
  }

  /// Handles an event, unless the site of the connection has had its turn: then the poll reports it again.
  private func handle(_ number: UInt64, _ found: EventPoll.Condition, _ handled: inout [IPAddress: Int]) {
    guard let connection = connections[number] else { return }
    let count = handled[connection.peer.site, default: 0]
    guard count < Self.maxHandled else { return }
    handled[connection.peer.site] = count + 1
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
    if connection.isInterrupted, !connection.isQueued {
      connection.isQueued = true
      interrupted.append(connection.number)
    }
    let wanted = connection.wanted
    if !connection.isClosed, !connection.watched.isSuperset(of: wanted) {
      watch(connection, for: wanted.contains(.readable) ? [.readable, .finished] : wanted)
    }
    guard connection.isClosed else { return }
    connections[connection.number] = nil
    if !connection.isRejected { dispatcher.close(from: connection.peer) }
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
      // The address may have no room, and after it the server.
      for _ in 0..<2 {
        guard let limit = refusal, makeRoom(for: peer, at: limit) else { break }
        refusal = dispatcher.open(from: peer)
      }
      let connection = Connection(socket, number: nextNumber, dispatcher: dispatcher, mailbox: endpoint.mailbox)
      nextNumber += 1
      if let refusal {
        dispatcher.report(refusal, .address(peer))
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
    } catch  where error.code == EINVAL {
      // Another thread has stopped the listener: the mailbox says so next.
      return nil
    } catch {
      // Out of descriptors or memory: one connection is accepted and closed, and accepting is paused.
      _ = makeRoom(for: nil, at: .connections)
      spare = nil
      let refused = try? StreamSocket.accept(from: endpoint.listener)
      if let refused { dispatcher.report(.connections, .address(refused.peer)) }
      spare = try? Descriptor(reading: "/dev/null")
      watchListener(false)
      return nil
    }
  }

  private func watchListener(_ isWatched: Bool) {
    isAcceptingPaused = !isWatched
    if isListening { endpoint.setAccepting(isWatched) }
  }

  /// Closes some connections, those that have been idle longest of the clients that have most; false if no connection may be closed.
  ///
  /// - Parameter peer: the new client; at the limit of its address, only connections from this address are closed.
  private func makeRoom(for peer: IPAddress?, at limit: Refusal) -> Bool {
    let isOfAddress = limit == .address
    let idle = ranked { $0.mayClose(at: limit) && (!isOfAddress || $0.peer.site == peer?.site) }.sorted(by: <)
    if idle.isEmpty { return !isOfAddress && evictBusy() }
    // Several at once, because further connections are likely to follow; not all, because each may hold a body of megabytes.
    let excess = isOfAddress ? peer.map(dispatcher.excess) ?? 1 : 1
    for connection in idle.prefix(max(1, excess, min(idle.count / 16, Self.maxHandled))).map(\.connection) {
      dispatcher.report(limit, .address(connection.peer))
      if connection.isWithinRequest {
        dispatcher.close(from: connection.peer)
        connection.reject(limit.problem)
      } else {
        connection.closeUnread()
      }
      update(connection)
    }
    return true
  }

  /// Closes a busy connection of the client that has most, so that others are served; false if no client has more than is spared.
  private func evictBusy() -> Bool {
    // Looking at thousands of connections takes a while: not for each of many that are refused.
    let now = ContinuousClock.now
    guard now >= nextEviction else { return false }
    guard let first = ranked(where: { $0.shareHolder != nil }).min(),
      first.count > dispatcher.configuration.sparedConnections
    else {
      nextEviction = now + tickInterval
      return false
    }
    dispatcher.report(.connections, first.connection.shareHolder ?? .address(first.connection.peer))
    first.connection.evict()
    update(first.connection)
    return true
  }

  private func ranked(where isIncluded: (Connection) -> Bool) -> [Ranked] {
    let found = connections.values.filter(isIncluded)
    return zip(found, dispatcher.counts(of: found.map(\.shareHolder))).map { Ranked(connection: $0, count: $1) }
  }

  /// A connection, and how much its client has of what its share counts: the first to close is one of the client that has most, and
  /// of those the one without progress for longest.
  private struct Ranked: Comparable {
    let connection: Connection
    let count: Int

    static func < (left: Ranked, right: Ranked) -> Bool {
      (right.count, left.connection.lastProgress) < (left.count, right.connection.lastProgress)
    }

    static func == (left: Ranked, right: Ranked) -> Bool { left.connection === right.connection }
  }
}

extension Refusal {
  fileprivate var problem: Problem {
    switch self {
    case .connections: .tooManyConnections
    case .address: .tooManyFromAddress
    case .key, .user: .tooManyOfCredential
    case .streams: .tooManyStreams
    }
  }
}
