import Glibc
import Platform

/// A server on a free port that sends the same bytes in response to each request, and records what it receives.
final class ScriptedServer: Sendable {
  /// The requests that a server has received.
  struct Received: Sendable {
    var connections = 0
    /// The heads of the requests.
    var heads: [String] = []
    /// The number of bytes of bodies.
    var bodyBytes = 0
  }

  let port: UInt16
  private let listener: OpenFile
  private let response: [UInt8]
  private let closes: Bool
  /// The number of bytes of a body after which more is sent.
  private let bodyLength: Int
  private let second: [UInt8]
  private let state = Locked(Received())

  /// - Parameters:
  ///   - response: nil: the server does not accept connections.
  ///   - closes: whether the server closes the connection after the response.
  ///   - bodyLength: the number of bytes of a body after which the server also sends `second`.
  init(response: String?, closes: Bool = false, after bodyLength: Int = .max, _ second: String = "") throws {
    let listener = Descriptor(owning: socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let number = listener.number
    let status = withUnsafeMutableBytes(of: &address) { bytes in
      let pointer = bytes.baseAddress!.assumingMemoryBound(to: sockaddr.self)
      guard bind(number, pointer, length) == 0, listen(number, response == nil ? 0 : 16) == 0 else { return Int32(-1) }
      return getsockname(number, pointer, &length)
    }
    guard status == 0 else { throw SystemError(call: "listen") }
    port = UInt16(bigEndian: address.sin_port)
    self.listener = OpenFile(listener)
    self.response = Array((response ?? "").utf8)
    self.closes = closes
    self.bodyLength = bodyLength
    self.second = Array(second.utf8)
    guard response != nil else { return }
    try NamedThread(name: "scripted-server") { [self] in acceptAll() }.detach()
  }

  /// The requests received so far.
  var received: Received { state.withLock { $0 } }

  /// Refuses further connections; open connections continue.
  func stop() { shutdown(listener.descriptor.number, Int32(SHUT_RDWR)) }

  private func acceptAll() {
    while true {
      let number = accept(listener.descriptor.number, nil, nil)
      guard number >= 0 else { return }
      state.withLock { $0.connections += 1 }
      let connection = OpenFile(Descriptor(owning: number))
      try? NamedThread(name: "scripted-connection") { [self] in serve(connection) }.detach()
    }
  }

  private func serve(_ connection: OpenFile) {
    var pending: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = recv(connection.descriptor.number, &chunk, chunk.count, 0)
      guard count > 0 else { return }
      pending += chunk.prefix(count)
      while let end = pending.firstRange(of: Array("\r\n\r\n".utf8)) {
        state.withLock { $0.heads.append(String(decoding: pending[..<end.lowerBound], as: UTF8.self)) }
        pending.removeFirst(end.upperBound)
        guard (try? connection.descriptor.write(response)) != nil, !closes else { return }
      }
      // A body follows a head with Content-Length.
      if received.heads.contains(where: { $0.contains("Content-Length") }) {
        let isWhole = state.withLock { state in
          state.bodyBytes += pending.count
          return state.bodyBytes == bodyLength
        }
        pending = []
        if isWhole { try? connection.descriptor.write(second) }
      }
    }
  }
}
