import Platform

extension SendingLoop {
  /// Starts another connection to a server if it has fewer than it may have, and none is being established.
  func addConnection(to host: Host) {
    guard host.connections.count < configuration.maxConnectionsPerHost, host.addresses == nil,
      host.connections.allSatisfy(\.isReady), host.nextConnection <= .now
    else { return }
    if host.isForeign, host.connections.isEmpty, !hasRoomForForeign() { return }
    host.addresses = []
    host.connectingSince = .now
    let (key, mailbox) = (host.key, mailbox)
    do {
      // The name is resolved for each connection, by a thread of its own, since that blocks.
      try NamedThread(name: "push-resolve") {
        let addresses = SocketAddress.resolve(key.origin)
        mailbox.post { $0.resolved.append((key, addresses)) }
      }.detach()
    } catch {
      host.addresses = nil
      failed(host, .retry(after: nil, "\(error)"))
    }
  }

  /// Connects to the first of the addresses that a server may have.
  func connect(_ host: Host?, _ addresses: [SocketAddress]) {
    guard let host else { return }
    let allowed = addresses.prefix(Self.maxAddresses).filter { found in
      !host.isForeign || PublicAddresses.contains(found.address)
        || configuration.permitted.contains { $0.contains(found.address) }
    }
    host.addresses = allowed
    guard allowed.isEmpty else { return connectNext(host, "") }
    host.addresses = nil
    failed(
      host,
      addresses.isEmpty
        ? .retry(after: nil, "\(host.key.origin) cannot be resolved")
        : .deviceRefused("\(host.key.origin) has no public address"))
  }

  /// Connects to the next address that has not been tried.
  private func connectNext(_ host: Host, _ problem: String) {
    host.connecting = nil
    guard var rest = host.addresses, !rest.isEmpty else {
      host.addresses = nil
      return failed(host, .retry(after: nil, "\(host.key.origin): \(problem)"))
    }
    let address = rest.removeFirst()
    host.addresses = rest
    lastKey += 1
    do throws(PushError) {
      let connection = try Connection(address, context, host: host.key.origin.host, key: lastKey, poll: poll)
      host.connections.append(connection)
      host.connecting = connection
      connections[lastKey] = (host, connection)
    } catch {
      connectNext(host, error.description)
    }
  }

  /// Gives back what waits for a server without a connection.
  private func failed(_ host: Host, _ outcome: Outcome) {
    host.nextConnection = .now + .seconds(1)
    if host.connections.isEmpty {
      host.nextConnection = .now
      if case .retry = outcome { host.noteSilence(since: host.connectingSince) }
      host.endAll(outcome)
    }
  }

  /// Forgets connections that are closed, and tries the next address if one was never of use.
  func removeClosed(_ host: Host) {
    if host.connecting?.isReady == true { (host.addresses, host.connecting) = (nil, nil) }
    for connection in host.connections {
      guard let problem = connection.problem else { continue }
      host.connections.removeAll { $0 === connection }
      connections[connection.key] = nil
      guard connection.isReady else {
        connectNext(host, problem)
        continue
      }
      host.uselessConnections = connection.hasResponded ? 0 : host.uselessConnections + 1
      if host.uselessConnections == Self.maxUselessConnections {
        host.uselessConnections = 0
        host.nextConnection = .now + .seconds(1)
        // Another connection that is open is of no more use, unless it has been.
        guard !host.connections.contains(where: \.hasResponded) else { continue }
        host.endAll(.retry(after: nil, "\(host.key.origin): \(problem)"))
      }
    }
  }

  /// Whether one more server that a user names may have connections; closes the idle ones for that.
  private func hasRoomForForeign() -> Bool {
    let open = hosts.values.filter { $0.isForeign && ($0.addresses != nil || !$0.connections.isEmpty) }
    guard open.count >= Self.maxForeignHosts else { return true }
    for host in open where !host.isBusy {
      for connection in host.connections { connection.close("idle") }
    }
    return false
  }
}
