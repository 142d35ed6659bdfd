import Glibc
import Platform

/// A server on a free port of this machine that gives each request the same bytes, whatever it asks for, and remembers what
/// it was sent.
final class ScriptedServer: Sendable {
  /// What a server heard.
  struct Heard: Sendable {
    var connections = 0
    /// Of every request, without the body.
    var heads: [String] = []
    /// Bytes behind the heads.
    var rest = 0
  }

  let port: UInt16
  private let listener: OpenFile
  private let answer: [UInt8]
  private let closes: Bool
  private let state = Locked(Heard())

  /// - Parameters:
  ///   - answer: nil: none, and no connection is even accepted.
  ///   - closes: the connection behind the answer; it is kept otherwise.
  init(answer: String?, closes: Bool = false) throws {
    let listener = Descriptor(owning: socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let number = listener.number
    let status = withUnsafeMutableBytes(of: &address) { bytes in
      let pointer = bytes.baseAddress!.assumingMemoryBound(to: sockaddr.self)
      guard bind(number, pointer, length) == 0, listen(number, answer == nil ? 0 : 16) == 0 else { return Int32(-1) }
      return getsockname(number, pointer, &length)
    }
    guard status == 0 else { throw SystemError(call: "listen") }
    port = UInt16(bigEndian: address.sin_port)
    self.listener = OpenFile(listener)
    self.answer = Array((answer ?? "").utf8)
    self.closes = closes
    guard answer != nil else { return }
    try NamedThread(name: "scripted-server") { [self] in acceptAll() }.detach()
  }

  /// What it heard so far.
  var heard: Heard { state.withLock { $0 } }

  /// Takes no further connection; those that are there go on.
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
        guard (try? connection.descriptor.write(answer)) != nil, !closes else { return }
      }
      // Behind a head that promises a body, and the heads of its parts.
      if heard.heads.contains(where: { $0.contains("Content-Length") }) {
        state.withLock { $0.rest += pending.count }
        pending = []
      }
    }
  }
}
