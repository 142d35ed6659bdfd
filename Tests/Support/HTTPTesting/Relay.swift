import Glibc
package import Platform

/// A TCP proxy that copies bytes, by a thread for each direction of a connection.
package final class Relay: Sendable {
  /// Returns how many of the bytes that have arrived are forwarded; the rest is lost, and the connection ends. It is
  /// called without bytes before the end of the other direction.
  package typealias Taking = @Sendable (ArraySlice<UInt8>) -> Int

  /// The connections of one client to the proxy and of the proxy to the service.
  private final class Link: Sendable {
    let client: Descriptor
    let service: Descriptor

    init(_ client: consuming Descriptor, _ service: consuming Descriptor) {
      self.client = client
      self.service = service
    }

    /// Resets the connection of the client (connect(2), AF_UNSPEC), and ends that of the service, which still receives the
    /// bytes that were forwarded.
    func cut() {
      var nowhere = sockaddr()
      nowhere.sa_family = sa_family_t(AF_UNSPEC)
      connect(client.number, &nowhere, socklen_t(MemoryLayout<sockaddr>.size))
      shutdown(service.number, Int32(SHUT_WR))
    }
  }

  /// The port on 127.0.0.1.
  package let port: UInt16
  private let listener: OpenFile
  private let links = Locked<[ObjectIdentifier: Link]>([:])

  /// Listens on a free port; `start` accepts connections.
  package init() throws(SystemError) { (listener, port) = try LocalSocket.listening(backlog: 128) }

  /// The number of connections.
  package var connections: Int { links.withLock { $0.count } }

  /// Limits what the kernel receives before it is forwarded, so that what a client counts as sent has nearly arrived.
  package func limitRoom(to bytes: Int32) {
    var room = bytes
    // Accepted sockets inherit it.
    setsockopt(
      listener.descriptor.number, SOL_SOCKET, SO_RCVBUF, &room, socklen_t(MemoryLayout<Int32>.size))
  }

  /// Starts to accept connections.
  ///
  /// - Parameter connect: connects to the service; nil: the client is disconnected.
  package func start(
    requests: @escaping Taking, responses: @escaping Taking, connect: @escaping @Sendable () -> Descriptor?
  ) throws(SystemError) {
    try NamedThread(name: "relay") { [self] in
      // Ends: when the listener or a connection is closed.
      while true {
        let number = accept(listener.descriptor.number, nil, nil)
        guard number >= 0 else { return }
        let client = Descriptor(owning: number)
        var on: Int32 = 1
        setsockopt(number, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
        guard let service = connect() else { continue }
        let link = Link(client, service)
        links.withLock { $0[ObjectIdentifier(link)] = link }
        try? NamedThread(name: "relay-requests") { [self] in
          forward(link.client.number, link.service.number, requests)
          end(link)
        }.detach()
        try? NamedThread(name: "relay-responses") { [self] in
          forward(link.service.number, link.client.number, responses)
          end(link)
        }.detach()
      }
    }.detach()
  }

  /// Ends all connections.
  package func cut() { links.withLock { Array($0.values) }.forEach { $0.cut() } }

  /// Refuses further connections, and ends those that are open.
  package func stop() {
    shutdown(listener.descriptor.number, Int32(SHUT_RDWR))
    cut()
  }

  private func end(_ link: Link) {
    link.cut()
    links.withLock { _ = $0.removeValue(forKey: ObjectIdentifier(link)) }
  }

  /// Copies bytes until a connection ends.
  private func forward(_ source: Int32, _ target: Int32, _ take: Taking) {
    var chunk = [UInt8](repeating: 0, count: 16 << 10)
    // Ends: when the listener or a connection is closed.
    while true {
      let count = max(0, recv(source, &chunk, chunk.count, 0))
      let taken = take(chunk[..<count])
      var sent = 0
      while sent < taken {
        let part = chunk.withUnsafeBytes { send(target, $0.baseAddress! + sent, taken - sent, Int32(MSG_NOSIGNAL)) }
        guard part > 0 else { return }
        sent += part
      }
      guard count > 0, taken == count else { return }
    }
  }
}
