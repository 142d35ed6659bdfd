import Glibc
import Platform

/// A small HTTP/1.1 client for the service's own API: one request a connection, blocking, without TLS.
///
/// It serves the command line, which talks to a service on the same machine or behind a tunnel.
package struct HTTPClient: Sendable {
  private let server: ServerAddress
  private let apiKey: String?
  /// After so many seconds without a byte in either direction the request is given up.
  private let timeout: Int

  package init(server: ServerAddress, apiKey: String? = nil, timeout: Int = 60) {
    self.server = server
    self.apiKey = apiKey
    self.timeout = timeout
  }

  /// Asks for something.
  package func get(_ path: String) throws(HTTPClientError) -> HTTPAnswer {
    let connection = try connect()
    try send(head(method: "GET", path: path, headers: []), over: connection)
    return try answer(from: connection)
  }

  /// Sends a form of several parts (RFC 7578), files as they lie on the disk.
  ///
  /// - Parameter progress: told how many bytes of the body are sent, and of how many.
  package func post(
    _ path: String, form: [FormPart], method: String = "POST", progress: (Int64, Int64) -> Void
  ) throws(HTTPClientError) -> HTTPAnswer {
    let boundary = "take5-\(UInt64.random(in: .min ... .max))-\(UInt64.random(in: .min ... .max))"
    var heads: [[UInt8]] = []
    var total: Int64 = 0
    for part in form {
      let head = Array("--\(boundary)\r\n\(part.head)\r\n".utf8)
      heads.append(head)
      total += Int64(head.count) + part.count + 2
    }
    let end = Array("--\(boundary)--\r\n".utf8)
    total += Int64(end.count)

    let connection = try connect()
    let headers = ["Content-Type: multipart/form-data; boundary=\(boundary)", "Content-Length: \(total)"]
    do {
      try send(head(method: method, path: path, headers: headers), over: connection)
      var sent: Int64 = 0
      for (head, part) in zip(heads, form) {
        try send(head, over: connection)
        try part.withChunks { chunk throws(HTTPClientError) in
          try send(chunk, over: connection)
          sent += Int64(chunk.count)
          progress(sent, total)
        }
        try send(Array("\r\n".utf8), over: connection)
      }
      try send(end, over: connection)
      progress(total, total)
    } catch {
      // A server that refuses early answers and closes while we still send: its answer says more than our error.
      if let answer = try? answer(from: connection) { return answer }
      throw error
    }
    return try answer(from: connection)
  }

  private func head(method: String, path: String, headers: [String]) -> [UInt8] {
    var lines = ["\(method) \(path) HTTP/1.1", "Host: \(server.authority)", "Connection: close"] + headers
    if let apiKey { lines.append("Authorization: Bearer \(apiKey)") }
    return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
  }

  private func connect() throws(HTTPClientError) -> Descriptor {
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var found: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(server.host, String(server.port), &hints, &found) == 0 else {
      throw HTTPClientError("\(server.host) is not known here")
    }
    defer { freeaddrinfo(found) }
    var failure = ECONNREFUSED
    var next = found
    while let address = next?.pointee {
      next = address.ai_next
      let number = socket(address.ai_family, address.ai_socktype | Int32(SOCK_CLOEXEC.rawValue), address.ai_protocol)
      guard number >= 0 else { continue }
      let descriptor = Descriptor(owning: number)
      var limit = timeval(tv_sec: timeout, tv_usec: 0)
      setsockopt(number, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
      setsockopt(number, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
      if Glibc.connect(number, address.ai_addr, address.ai_addrlen) == 0 { return descriptor }
      failure = errno
    }
    throw HTTPClientError(
      "no service answers at \(server): \(String(cString: strerror(failure))); start one with 'take5 serve'")
  }

  private func send(_ bytes: [UInt8], over connection: borrowing Descriptor) throws(HTTPClientError) {
    do {
      try connection.write(bytes)
    } catch {
      throw HTTPClientError("the connection to \(server) broke while sending: \(error)")
    }
  }

  private func answer(from connection: borrowing Descriptor) throws(HTTPClientError) -> HTTPAnswer {
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = read(connection.number, &chunk, chunk.count)
      if count > 0 {
        bytes += chunk.prefix(count)
      } else if count == 0 {
        break
      } else if errno != EINTR {
        // A reset after the whole answer came is no loss.
        if let answer = HTTPAnswer(bytes) { return answer }
        throw HTTPClientError("the connection to \(server) broke: \(String(cString: strerror(errno)))")
      }
    }
    guard let answer = HTTPAnswer(bytes) else { throw HTTPClientError("\(server) gave no whole answer") }
    return answer
  }
}
