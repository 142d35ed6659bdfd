import Glibc
import Platform

/// The connections of one client to the proxy and of the proxy to the server.
final class ProxyLink {
  private let client: Descriptor
  private let server: Descriptor
  // Bytes that were read and not yet written; no more bytes are read before they are written.
  private var toServer: [UInt8] = []
  private var toClient: [UInt8] = []
  /// Whether one side has closed its connection.
  private(set) var hasEnded = false

  init(client: consuming Descriptor, server: consuming Descriptor) {
    self.client = client
    self.server = server
    for number in [self.client.number, self.server.number] {
      _ = fcntl(number, F_SETFL, fcntl(number, F_GETFL) | O_NONBLOCK)
    }
    var on: Int32 = 1
    setsockopt(self.client.number, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
  }

  /// The events to poll for, of the client's and the server's connection.
  var requests: [pollfd] {
    [
      pollfd(fd: client.number, events: Self.events(reads: toServer.isEmpty, writes: !toClient.isEmpty), revents: 0),
      pollfd(fd: server.number, events: Self.events(reads: toClient.isEmpty, writes: !toServer.isEmpty), revents: 0),
    ]
  }

  private static func events(reads: Bool, writes: Bool) -> Int16 {
    Int16((reads ? POLLIN : 0) | (writes ? POLLOUT : 0))
  }

  /// Forwards the available bytes.
  func forward(_ fromClient: Int16, _ fromServer: Int16) {
    if fromClient != 0 && toServer.isEmpty { read(client.number, into: &toServer) }
    if fromServer != 0 && toClient.isEmpty { read(server.number, into: &toClient) }
    write(&toServer, to: server.number)
    write(&toClient, to: client.number)
  }

  private func read(_ number: Int32, into buffer: inout [UInt8]) {
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    let count = Glibc.read(number, &chunk, chunk.count)
    if count > 0 {
      buffer = Array(chunk.prefix(count))
    } else if count == 0 || (errno != EAGAIN && errno != EINTR) {
      hasEnded = true
    }
  }

  private func write(_ buffer: inout [UInt8], to number: Int32) {
    guard !buffer.isEmpty else { return }
    let count = buffer.withUnsafeBytes { send(number, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
    if count > 0 {
      buffer.removeFirst(count)
    } else if errno != EAGAIN && errno != EINTR {
      hasEnded = true
    }
  }
}
