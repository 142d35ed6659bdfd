import Glibc
internal import Platform

/// The listening socket, mailbox and epoll instance of a network thread, created before the thread to report errors.
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

  /// Accepts connections, or leaves them in the backlog of the socket.
  func setAccepting(_ isAccepting: Bool) {
    try? poll.change(listener.number, key: Self.listenerKey, to: isAccepting ? .readable : [])
  }

  /// Shuts down the socket, so that the system refuses connections for all endpoints that share it.
  func stopListening() {
    poll.remove(listener.number)
    shutdown(listener.number, Int32(SHUT_RDWR))
  }
}

/// A bound, listening TCP socket.
package struct ListeningSocket: ~Copyable {
  let descriptor: Descriptor
  /// The port, chosen by the system if the requested port was 0.
  package let port: UInt16

  package init(host: String, port: UInt16) throws(ServerError) {
    var hints = addrinfo()
    hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV
    hints.ai_family = AF_UNSPEC
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var found: UnsafeMutablePointer<addrinfo>?
    let status = getaddrinfo(host, String(port), &hints, &found)
    guard status == 0, let address = found else {
      throw .unknownHost(host, reason: String(cString: gai_strerror(status)))
    }
    defer { freeaddrinfo(found) }

    let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
    let number = socket(address.pointee.ai_family, type, 0)
    guard number >= 0 else { throw .cannotListen(SystemError(call: "socket")) }
    let descriptor = Descriptor(owning: number)
    var one: Int32 = 1
    setsockopt(number, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size))
    guard bind(number, address.pointee.ai_addr, address.pointee.ai_addrlen) == 0 else {
      throw .cannotListen(SystemError(call: "bind", subject: "\(host):\(port)"))
    }
    guard listen(number, SOMAXCONN) == 0 else {
      throw .cannotListen(SystemError(call: "listen", subject: "\(host):\(port)"))
    }
    self.port = Self.boundPort(of: number)
    self.descriptor = descriptor
  }

  private static func boundPort(of number: Int32) -> UInt16 {
    var address = sockaddr_in6()
    var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
    withUnsafeMutableBytes(of: &address) { bytes in
      _ = getsockname(number, bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self), &length)
    }
    // The port has the same offset in sockaddr_in and sockaddr_in6.
    return UInt16(bigEndian: address.sin6_port)
  }
}
