import Glibc
import HTTPTesting
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
  ///   - bodyLength: the number of bytes of each body, after which the server also sends `second`.
  init(response: String?, closes: Bool = false, after bodyLength: Int = .max, _ second: String = "") throws {
    (listener, port) = try LocalSocket.listening(backlog: response == nil ? 0 : 16)
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
    // Ends: when the listener or the connection is closed.
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
    // Ends: when the listener or the connection is closed.
    while true {
      let count = recv(connection.descriptor.number, &chunk, chunk.count, 0)
      guard count > 0 else { return }
      pending += chunk.prefix(count)
      // Ends: with the heads that are there.
      while let end = pending.firstRange(of: Array("\r\n\r\n".utf8)) {
        state.withLock { $0.heads.append(String(decoding: pending[..<end.lowerBound], as: UTF8.self)) }
        pending.removeFirst(end.upperBound)
        guard (try? connection.descriptor.write(response)) != nil, !closes else { return }
      }
      // A body follows a head with Content-Length.
      if received.heads.contains(where: { $0.contains("Content-Length") }) {
        let isWhole = state.withLock { state in
          state.bodyBytes += pending.count
          return state.bodyBytes > 0 && state.bodyBytes.isMultiple(of: bodyLength)
        }
        pending = []
        if isWhole { try? connection.descriptor.write(second) }
      }
    }
  }
}
