import Glibc
package import Platform
import WaitTesting

/// Sockets of TCP on 127.0.0.1.
package enum LocalSocket {
  /// Binds a socket and listens.
  ///
  /// - Parameter port: 0: one that the kernel chooses.
  /// - Returns: the port.
  package static func listen(
    _ number: Int32, port: UInt16 = 0, backlog: Int32 = 16
  ) throws(SystemError) -> UInt16 {
    let bound = withAddress(port) { address, length -> UInt16? in
      var length = length
      guard bind(number, address, length) == 0, Glibc.listen(number, backlog) == 0,
        getsockname(number, address, &length) == 0
      else { return nil }
      return UInt16(bigEndian: UnsafeRawPointer(address).load(as: sockaddr_in.self).sin_port)
    }
    guard let bound else { throw SystemError(call: "listen") }
    return bound
  }

  /// Returns a socket that listens.
  package static func listening(backlog: Int32 = 16) throws(SystemError) -> (file: OpenFile, port: UInt16) {
    let descriptor = Descriptor(owning: socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0))
    let port = try listen(descriptor.number, backlog: backlog)
    return (OpenFile(descriptor), port)
  }

  /// Connects a socket; false if nothing listens.
  package static func connect(_ number: Int32, to port: UInt16) -> Bool {
    withAddress(port) { Glibc.connect(number, $0, $1) == 0 }
  }

  private static func withAddress<Value>(
    _ port: UInt16, _ body: (UnsafeMutablePointer<sockaddr>, socklen_t) -> Value
  ) -> Value {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return withUnsafeMutableBytes(of: &address) { bytes in
      body(bytes.baseAddress!.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count))
    }
  }
}

/// A TCP connection to a server on this machine, on which a test sends exact bytes; its calls block.
package struct ClientConnection: ~Copyable {
  /// An error of a connection.
  package enum Failure: Error {
    case cannotConnect(errno: Int32)
    /// The server closed or reset the connection, or sent nothing for five minutes.
    case closed(errno: Int32)
    case malformed(String)
  }

  private let descriptor: Descriptor
  private var buffer: [UInt8] = []

  /// - Parameters:
  ///   - address: the local IPv4 address; nil: chosen by the system.
  ///   - room: the number of bytes that the system receives ahead; nil: chosen by the system.
  package init(port: UInt16, from address: String? = nil, room: Int32? = nil) throws {
    descriptor = Descriptor(owning: socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0))
    if var room {
      setsockopt(descriptor.number, SOL_SOCKET, SO_RCVBUF, &room, socklen_t(MemoryLayout<Int32>.size))
    }
    if let address {
      // The port is chosen at the connection, when it need differ only from those of the same two addresses.
      var later: Int32 = 1
      setsockopt(
        descriptor.number, Int32(IPPROTO_IP), IP_BIND_ADDRESS_NO_PORT, &later, socklen_t(MemoryLayout<Int32>.size))
      try Self.bind(descriptor.number, to: address)
    }
    var limit = timeval(tv_sec: 300, tv_usec: 0)
    setsockopt(descriptor.number, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    guard LocalSocket.connect(descriptor.number, to: port) else { throw Failure.cannotConnect(errno: errno) }
  }

  private static func bind(_ number: Int32, to text: String) throws {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    inet_pton(AF_INET, text, &address.sin_addr)
    let status = withUnsafeBytes(of: &address) { bytes in
      Glibc.bind(
        number, bytes.baseAddress!.assumingMemoryBound(to: sockaddr.self), socklen_t(MemoryLayout<sockaddr_in>.size))
    }
    guard status == 0 else { throw Failure.cannotConnect(errno: errno) }
  }

  /// Sends all bytes.
  package func send(_ bytes: [UInt8]) throws {
    var sent = 0
    while sent < bytes.count {
      let count = bytes.withUnsafeBytes { buffer in
        Glibc.send(descriptor.number, buffer.baseAddress! + sent, buffer.count - sent, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { throw Failure.closed(errno: errno) }
      sent += count
    }
  }

  /// Sends text, whose line breaks must be CR LF.
  package func send(_ text: String) throws { try send(Array(text.utf8)) }

  /// Returns once the system of the server has received everything that was sent.
  package func waitUntilReceived() throws {
    var count: Int32 = 1
    let deadline = Deadline("the acknowledgement of all bytes")
    while count > 0, ioctl(descriptor.number, UInt(TIOCOUTQ), &count) == 0 {
      try deadline.check()
      sched_yield()
    }
  }

  /// The number of bytes that the system of the server has acknowledged (tcp(7), TCP_INFO; tcpi_bytes_acked).
  package var acknowledgedBytes: UInt64 {
    var info = [UInt64](repeating: 0, count: 32)
    var length = socklen_t(info.count * 8)
    getsockopt(descriptor.number, Int32(IPPROTO_TCP), TCP_INFO, &info, &length)
    return info[15]
  }

  /// Sends bytes until the system takes no more at the moment, or a response has come; returns their number.
  package func sendWhilePossible(_ bytes: ArraySlice<UInt8>) -> Int {
    var sent = 0
    while sent < bytes.count {
      let count = bytes.withUnsafeBytes { buffer in
        Glibc.send(
          descriptor.number, buffer.baseAddress! + sent, min(1 << 16, buffer.count - sent),
          Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
      }
      guard count > 0 else { break }
      sent += count
    }
    return sent
  }

  /// Resets the connection.
  package consuming func reset() {
    var immediately = linger(l_onoff: 1, l_linger: 0)
    setsockopt(descriptor.number, SOL_SOCKET, SO_LINGER, &immediately, socklen_t(MemoryLayout<linger>.size))
  }

  /// Closes the sending side.
  package func finishSending() { shutdown(descriptor.number, Int32(SHUT_WR)) }

  /// Receives the next response, after the interim ones.
  ///
  /// - Parameter toHead: whether the request was HEAD, so that the response has no body.
  package mutating func receive(toHead: Bool = false) throws -> ClientResponse {
    let deadline = Deadline("the last response")
    while true {
      try deadline.check()
      let head = try receiveHead()
      var response = try ClientResponse(head: head)
      if 100..<200 ~= response.status { continue }
      let hasNoBody = toHead || response.status == 204 || response.status == 304
      if hasNoBody { return response }
      if let length = response.headers["content-length"].flatMap({ Int($0) }) {
        while buffer.count < length { try fill() }
        response.body = Array(buffer.prefix(length))
        buffer.removeFirst(length)
      } else if response.headers["transfer-encoding"] == "chunked" {
        while let chunk = try receiveChunk() {
          try deadline.check()
          response.body += chunk
        }
      } else {
        response.body = receiveRest()
      }
      return response
    }
  }

  /// Receives the next head, such as `HTTP/1.1 100 Continue`.
  package mutating func receiveHead() throws -> String { try receive(upTo: "\r\n\r\n") }

  /// Receives the next chunk of a body; nil at its end (RFC 9112, section 7.1).
  package mutating func receiveChunk() throws -> [UInt8]? {
    let line = try receive(upTo: "\r\n")
    guard let count = Int(line, radix: 16) else { throw Failure.malformed(line) }
    while buffer.count < count + 2 { try fill() }
    let chunk = Array(buffer.prefix(count))
    buffer.removeFirst(count + 2)
    return chunk.isEmpty ? nil : chunk
  }

  /// Receives the text before the next `end`.
  private mutating func receive(upTo end: String) throws -> String {
    let deadline = Deadline("a line break")
    while true {
      try deadline.check()
      if let position = buffer.firstRange(of: Array(end.utf8)) {
        let text = String(decoding: buffer[..<position.lowerBound], as: UTF8.self)
        buffer.removeFirst(position.upperBound)
        return text
      }
      try fill()
    }
  }

  /// Whether the server sends bytes or closes the connection within the given number of milliseconds.
  package func isReadable(within milliseconds: Int32) -> Bool {
    var request = pollfd(fd: descriptor.number, events: Int16(POLLIN), revents: 0)
    return poll(&request, 1, milliseconds) > 0
  }

  /// Receives all bytes until the server closes or resets the connection.
  package mutating func receiveRest() -> [UInt8] {
    // Ends: with the connection, or by the timeout of the socket.
    while (try? fill()) != nil {}
    defer { buffer = [] }
    return buffer
  }

  private mutating func fill() throws {
    var chunk = [UInt8](repeating: 0, count: 64 << 10)
    let count = recv(descriptor.number, &chunk, chunk.count, 0)
    guard count > 0 else { throw Failure.closed(errno: count == 0 ? 0 : errno) }
    buffer += chunk.prefix(count)
  }
}

/// A response as received by a client.
package struct ClientResponse: Sendable {
  package let status: Int
  /// The header fields, by their names in lowercase; of a repeated field the last value.
  package let headers: [String: String]
  package internal(set) var body: [UInt8] = []

  /// The body as text.
  package var text: String { String(decoding: body, as: UTF8.self) }

  package init(head: String) throws {
    var lines = head.split(separator: "\r\n", omittingEmptySubsequences: false)
    guard let statusLine = lines.first?.split(separator: " "), statusLine.count >= 2, let status = Int(statusLine[1])
    else {
      throw ClientConnection.Failure.malformed(head)
    }
    lines.removeFirst()
    var headers: [String: String] = [:]
    for line in lines {
      let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2 else { throw ClientConnection.Failure.malformed(head) }
      headers[parts[0].lowercased()] = String(parts[1].drop { $0 == " " })
    }
    self.status = status
    self.headers = headers
  }
}
