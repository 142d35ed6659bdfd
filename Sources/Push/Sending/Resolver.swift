import Glibc
import Platform

/// An address of a server, to which sockets connect without resolving its name again.
struct SocketAddress: Sendable {
  let address: IPAddress
  let family: Int32
  /// A `sockaddr`.
  let bytes: [UInt8]

  private init?(_ information: addrinfo) {
    guard let pointer = information.ai_addr else { return nil }
    let bytes = UnsafeRawBufferPointer(start: pointer, count: Int(information.ai_addrlen))
    guard let address = IPAddress(socketAddress: bytes) else { return nil }
    self.address = address
    self.bytes = Array(bytes)
    family = information.ai_family
  }

  /// Resolves a host; blocks. Returns no address if the host is unknown.
  static func resolve(_ origin: Origin) -> [SocketAddress] {
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    hints.ai_flags = AI_ADDRCONFIG
    var first: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(origin.host, "\(origin.port)", &hints, &first) == 0 else { return [] }
    defer { freeaddrinfo(first) }
    return sequence(first: first, next: { $0?.pointee.ai_next }).compactMap { $0 }.compactMap {
      SocketAddress($0.pointee)
    }
  }

  /// Starts a connection, which does not block (connect(2)).
  func connected() throws(SystemError) -> Descriptor {
    let number = socket(family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
    guard number >= 0 else { throw SystemError(call: "socket") }
    let descriptor = Descriptor(owning: number)
    // Requests are written whole: none waits for the acknowledgement of another (tcp(7)).
    var on: Int32 = 1
    setsockopt(number, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
    let status = bytes.withUnsafeBytes { bytes in
      connect(number, bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count))
    }
    guard status == 0 || errno == EINPROGRESS else { throw SystemError(call: "connect") }
    return descriptor
  }
}
