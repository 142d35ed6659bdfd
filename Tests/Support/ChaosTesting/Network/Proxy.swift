import Glibc
package import Platform

/// Stands between the clients of a server and the server, and breaks their connections on demand.
///
/// One thread carries all connections. Holding is what a network does that loses everything without saying so: nothing
/// is forwarded and nothing is closed, and new connections are taken by the kernel alone.
package final class Proxy: Sendable {
  /// Where clients connect, on 127.0.0.1.
  package let port: UInt16
  private let upstream: String
  private let listener: Descriptor
  private let orders = Locked(Orders())
  private let woken: Event
  private let ended: Event

  private struct Orders {
    var isHolding = false
    var cuts = 0
    var isOver = false
    /// How many connections there are, as of the last look.
    var connections = 0
  }

  /// Starts to listen on a free port.
  ///
  /// - Parameter upstream: the path of the server's socket.
  package init(upstream: String) throws(SystemError) {
    self.upstream = upstream
    listener = try Self.listen()
    port = try Self.port(of: listener.number)
    woken = try Event()
    ended = try Event()
    try NamedThread(name: "chaos-proxy") { self.serve() }.detach()
  }

  /// From now on nothing goes through, and nobody is told.
  package func hold() { order { $0.isHolding = true } }

  /// Lets everything go through again, what was held back included.
  package func release() { order { $0.isHolding = false } }

  /// Closes every connection there is.
  package func cut() { order { $0.cuts += 1 } }

  /// How many connections it carries.
  package var connections: Int { orders.withLock { $0.connections } }

  /// Closes everything and ends the thread.
  package func stop() {
    order { $0.isOver = true }
    ended.wait()
  }

  private func order(_ change: (inout Orders) -> Void) {
    orders.withLock { change(&$0) }
    woken.signal()
  }

  private func serve() {
    var links: [ProxyLink] = []
    var cutsDone = 0
    while true {
      woken.clear()
      let count = links.count
      let now = orders.withLock { orders in
        orders.connections = count
        return orders
      }
      if now.isOver { break }
      if now.cuts > cutsDone {
        cutsDone = now.cuts
        links = []
        continue
      }
      var requests = [pollfd(fd: woken.number, events: Int16(POLLIN), revents: 0)]
      if !now.isHolding {
        requests.append(pollfd(fd: listener.number, events: Int16(POLLIN), revents: 0))
        for link in links { requests += link.requests }
      }
      guard poll(&requests, nfds_t(requests.count), -1) > 0, requests[0].revents == 0 else { continue }
      if requests[1].revents != 0, let link = accept() { links.append(link) }
      // Those accepted just now have no answer yet.
      for (place, link) in links.enumerated() where place * 2 + 3 < requests.count {
        link.carry(requests[place * 2 + 2].revents, requests[place * 2 + 3].revents)
      }
      links.removeAll { $0.isOver }
    }
    links = []
    ended.signal()
  }

  private func accept() -> ProxyLink? {
    let number = Glibc.accept(listener.number, nil, nil)
    guard number >= 0 else { return nil }
    let client = Descriptor(owning: number)
    // A server that is away: the client is closed, as the server's own machine would.
    guard let server = try? Self.connect(upstream) else { return nil }
    return ProxyLink(client: client, server: server)
  }

  private static func listen() throws(SystemError) -> Descriptor {
    let number = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard number >= 0 else { throw SystemError(call: "socket") }
    let listener = Descriptor(owning: number)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let bound = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(number, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard bound == 0, Glibc.listen(number, 128) == 0 else { throw SystemError(call: "listen") }
    return listener
  }

  private static func port(of number: Int32) throws(SystemError) -> UInt16 {
    var address = sockaddr_in()
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let asked = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(number, $0, &size) }
    }
    guard asked == 0 else { throw SystemError(call: "getsockname") }
    return UInt16(bigEndian: address.sin_port)
  }

  private static func connect(_ path: String) throws(SystemError) -> Descriptor {
    let number = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard number >= 0 else { throw SystemError(call: "socket") }
    let server = Descriptor(owning: number)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else {
      throw SystemError(call: "connect", code: ENAMETOOLONG, subject: path)
    }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    let connected = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Glibc.connect(number, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard connected == 0 else { throw SystemError(call: "connect", subject: path) }
    return server
  }
}
