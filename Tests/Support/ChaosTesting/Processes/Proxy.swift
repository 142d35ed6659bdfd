import Glibc
import HTTPTesting
import Platform
import Postgres

/// A TCP proxy in front of a server's socket that can hold and cut its connections.
///
/// While the proxy holds, it neither forwards bytes nor closes connections, like a network that loses all packets; the
/// kernel still accepts new connections.
final class Proxy: Sendable {
  private let relay: Relay
  /// Set unless the proxy holds.
  private let flows: Event

  /// Listens on a free port.
  ///
  /// - Parameter upstream: the path of the server's socket.
  init(upstream: String) throws(SystemError) {
    relay = try Relay()
    flows = try Event()
    flows.signal()
    let pass: Relay.Taking = { [self] bytes in
      flows.wait()
      return bytes.count
    }
    // If the server is not running, the client is disconnected.
    try relay.start(requests: pass, responses: pass) { [self] in
      flows.wait()
      return try? Self.connect(upstream)
    }
  }

  /// The port on 127.0.0.1.
  var port: UInt16 { relay.port }

  /// Stops forwarding without closing connections.
  func hold() { flows.clear() }

  /// Forwards again, including the bytes that arrived while the proxy was holding.
  func release() { flows.signal() }

  /// Closes all connections.
  func cut() { relay.cut() }

  /// The number of connections.
  var connections: Int { relay.connections }

  /// Closes all connections and refuses others.
  func stop() {
    relay.stop()
    release()
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
  /// A port on 127.0.0.1 for a service that is restarted, outside of those that the kernel gives to clients.
  static func unusedPort() throws(SystemError) -> UInt16 {
    // Ends: with a free port, of which there are thousands.
    while true {
      let port = UInt16.random(in: 20_000...31_999)
      do {
        let listener = Descriptor(owning: socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0))
        return try LocalSocket.listen(listener.number, port: port)
      } catch {
        guard error.code == EADDRINUSE else { throw error }
      }
    }
  }

  /// The URL of a database through the proxy, with the application name of the client's connections.
  func url(database: String, name: String) throws(PostgresError) -> DatabaseURL {
    try DatabaseURL(
      "host=127.0.0.1 port=\(port) user=take5 dbname=\(database) application_name=\(name) sslmode=disable"
        + " gssencmode=disable")
  }
}
