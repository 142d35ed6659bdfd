import Glibc
import Platform
import Postgres

/// A TCP proxy in front of a server's socket that can hold and cut its connections.
///
/// One thread forwards the bytes of all connections. While the proxy holds, it neither forwards bytes nor closes
/// connections, like a network that loses all packets; the kernel still accepts new connections.
final class Proxy: Sendable {
  /// The port on 127.0.0.1.
  let port: UInt16
  private let upstream: String
  private let listener: Descriptor
  private let control = Locked(Control())
  private let woken: Event
  private let ended: Event

  private struct Control {
    var isHolding = false
    var cuts = 0
    var isStopping = false
    /// The number of connections at the last iteration.
    var connections = 0
  }

  /// Listens on a free port.
  ///
  /// - Parameter upstream: the path of the server's socket.
  init(upstream: String) throws(SystemError) {
    self.upstream = upstream
    listener = try Self.listen()
    port = try Self.port(of: listener.number)
    woken = try Event()
    ended = try Event()
    try NamedThread(name: "chaos-proxy") { self.serve() }.detach()
  }

  /// Stops forwarding without closing connections.
  func hold() { change { $0.isHolding = true } }

  /// Forwards again, including the bytes that arrived while the proxy was holding.
  func release() { change { $0.isHolding = false } }

  /// Closes all connections.
  func cut() { change { $0.cuts += 1 } }

  /// The number of connections.
  var connections: Int { control.withLock { $0.connections } }

  /// Closes all connections and ends the thread.
  func stop() {
    change { $0.isStopping = true }
    ended.wait()
  }

  private func change(_ change: (inout Control) -> Void) {
    control.withLock { change(&$0) }
    woken.signal()
  }

  private func serve() {
    var links: [ProxyLink] = []
    var cutsDone = 0
    while true {
      woken.clear()
      let count = links.count
      let now = control.withLock { control in
        control.connections = count
        return control
      }
      if now.isStopping { break }
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
      // The link that was just accepted has not been polled.
      for (index, link) in links.enumerated() where index * 2 + 3 < requests.count {
        link.forward(requests[index * 2 + 2].revents, requests[index * 2 + 3].revents)
      }
      links.removeAll { $0.hasEnded }
    }
    links = []
    ended.signal()
  }

  private func accept() -> ProxyLink? {
    let number = Glibc.accept(listener.number, nil, nil)
    guard number >= 0 else { return nil }
    let client = Descriptor(owning: number)
    // If the server is not running, the client is disconnected.
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

extension Proxy {
  /// The URL of a database through the proxy, with the application name of the client's connections.
  func url(database: String, name: String) throws(PostgresError) -> DatabaseURL {
    try DatabaseURL(
      "host=127.0.0.1 port=\(port) user=take5 dbname=\(database) application_name=\(name) sslmode=disable"
        + " gssencmode=disable")
  }
}
