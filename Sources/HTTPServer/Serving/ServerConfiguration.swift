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

  /// Open connections at most; further ones wait in the kernel's queue.
  package var mostConnections = 4096
  /// From one address; 0 is no limit, as behind a reverse proxy all come from one.
  package var mostConnectionsPerAddress = 0
  /// The memory of one connection in bytes; a head that does not fit is answered with 431.
  package var memoryPerConnection = 32 << 10
  /// Body bytes that may wait for a handler before the connection is suspended.
  package var parkedBytes = 256 << 10
  /// Body bytes that are read and thrown away so that a client hears a late answer; beyond, it is cut off.
  package var drainedBytes: Int64 = 64 << 20

  /// Silence on a connection after which it is closed.
  package var inactivity: Duration = .seconds(30)
  /// From the first byte, or the end of the request before, to the end of the head.
  package var headDeadline: Duration = .seconds(30)
  /// From the end of the head to the answer, however busy the line is.
  package var requestDeadline: Duration = .seconds(600)
  /// The slowest client an answer is sent to, in bytes a second, on top of `headDeadline`.
  package var slowestAnswer: Int64 = 8 << 10
  /// Silence on a `BodyStream` after which its heartbeat is written; a client that left is found out by the second.
  package var heartbeat: Duration = .seconds(15)

  package init(host: String = "127.0.0.1", port: UInt16 = 0) {
    self.host = host
    self.port = port
  }
}
