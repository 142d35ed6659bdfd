package import Platform

/// Where a server listens and what it allows.
package struct ServerConfiguration: Sendable {
  /// A numeric address or a name that resolves to one.
  package var host: String
  /// 0 lets the system choose; `Server.port` tells which.
  package var port: UInt16

  /// Threads that move bytes between sockets and memory.
  package var networkThreads = 2
  /// Threads that run handlers, whose file and database work may block.
  package var handlerThreads = 4

  /// Open connections at most, if the process may have as many files. When there are as many, those that are idle, or
  /// dawdle, and never showed a key make room.
  package var maxConnections = 16_384
  /// Connections from one address without a key, where the idle ones make room too; and requests under way of one
  /// address that a proxy names.
  package var maxPerAddress = 1024
  /// Answers at most that are being produced over time, so that others find room.
  package var maxStreams = 12_288
  /// Reverse proxies: they have as many connections as they like, and the client is whom they name in X-Forwarded-For.
  package var trustedProxies: [AddressRange] = []

  /// The longest request line in bytes; a longer one is answered with 414.
  package var requestLineBytes = 8 << 10
  /// The longest head of a request in bytes; a longer one is answered with 431.
  package var headBytes = 32 << 10
  /// Body bytes that may wait for a handler before no more are taken from the client.
  package var bufferedBytes = 256 << 10

  /// Silence on a connection after which it is closed.
  package var inactivity: Duration = .seconds(30)
  /// From the first byte of a head to its end.
  package var headDeadline: Duration = .seconds(30)
  /// From the end of the head to the answer, however busy the line is.
  package var requestDeadline: Duration = .seconds(600)
  /// The slowest client an answer is sent to, in bytes a second, on top of `headDeadline`.
  package var slowestAnswer: Int64 = 8 << 10
  /// So long after a client has finished sending it is thought to be gone; until then it may wait for its answer.
  package var departure: Duration = .seconds(1)
  /// How long what a client still sends is thrown away after an early answer, so that it hears the answer.
  package var lingering: Duration = .seconds(30)
  /// Silence on a `BodyStream` after which its heartbeat is written; a client that left is found out by the second.
  package var heartbeat: Duration = .seconds(15)

  package init(host: String = "127.0.0.1", port: UInt16 = 0) {
    self.host = host
    self.port = port
  }
}
