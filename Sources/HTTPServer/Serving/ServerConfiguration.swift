package import Platform

/// The address and the limits of a server.
package struct ServerConfiguration: Sendable {
  /// A numeric address or a name that resolves to one.
  package var host: String
  /// The port; with 0, the system chooses one, and `Server.port` returns it.
  package var port: UInt16

  /// The number of threads that move bytes between sockets and memory.
  package var networkThreads = 2
  /// The number of threads that handlers of one client may occupy, and there is one more: more than there are processors only wake
  /// each other.
  package var handlerThreads = max(2, ThisProcess.processors)
  /// The same of handlers that wait for the disk; the file system writes what several wait for at once.
  package var diskThreads = 8
  /// The time that a call of such a handler to the disk may take; after it the disk hangs, and the request is refused.
  package var diskTime = Duration.seconds(30)

  /// The maximum number of open connections, if the limit of open files permits it. At the limit, the server closes
  /// connections that are idle, do not read, or receive a body without a credential: of the client that has most.
  package var maxConnections = 16_384
  /// The maximum number of connections from one address, other than those with an authenticated request in progress, of which the
  /// idle ones are closed first; also the maximum number of concurrent requests of one address behind a trusted proxy.
  package var maxPerAddress = 1024
  /// The maximum number of concurrent requests of one API key: the back-end of an app serves all of its users.
  package var maxPerKey = 4096
  /// The maximum number of concurrent requests of one user.
  package var maxPerUser = 64
  /// The number of connections of one client that stay open at the limit of connections, whatever they do. Of a client with more,
  /// also busy ones are closed if none is idle.
  package var sparedConnections = 16
  /// The maximum number of streamed responses.
  package var maxStreams = 12_288
  /// Reverse proxies whose connections are not limited, and whose X-Forwarded-For determines the client's address.
  package var trustedProxies: [AddressRange] = []
  /// Where clients reach the service; nil: at the address that a request names.
  package var publicURL: PublicURL?
  /// The origins whose web pages may read responses.
  package var allowedOrigins = AllowedOrigins()

  /// The maximum length of a request line in bytes; a longer one is refused with 414.
  package var requestLineBytes = HeadParser.Limits().requestLine
  /// The maximum length of the head of a request in bytes; a longer one is refused with 431.
  package var headBytes = HeadParser.Limits().head
  /// The maximum number of bytes that have been received from one address and that no request has taken yet: those of unfinished
  /// heads, and of requests behind another one.
  package var inputBytesPerAddress = 4 << 20
  /// The maximum number of bytes of responses that wait in memory until a user, or the clients of an address, read them: files wait on
  /// the disk.
  package var outputBytes = 16 << 20
  /// The same of one API key.
  package var outputBytesPerKey = 256 << 20
  /// The number of unread body bytes at which the server stops receiving: one chunk of a fast client, or several of a slow one.
  package var bufferedBytes = 128 << 10

  /// The time without any received or sent byte after which a connection is closed.
  package var idleTimeout: Duration = .seconds(30)
  /// The maximum time from the first byte of a head to its end.
  package var headTimeout: Duration = .seconds(30)
  /// The maximum time from the end of the head to the start of the response.
  package var requestTimeout: Duration = .seconds(600)
  /// The length of a body, in bytes, up to which it is short.
  package var shortBodyBytes: Int64 = 64 << 10
  /// The maximum time for which the server waits for a short body.
  package var shortBodyTimeout: Duration = .seconds(10)
  /// The time for which the server waits for a longer body beyond what `minBodyRate` permits: the longest pause.
  package var bodyTimeout: Duration = .seconds(60)
  /// The minimum rate of a longer body, in bytes per second.
  package var minBodyRate: Int64 = 1 << 10
  /// The rate of a body, in bytes per second, at which a resumable request may go on for longer than `requestTimeout`.
  package var minReceiveRate: Int64 = 8 << 10
  /// The minimum rate at which a client must receive a response, in bytes per second; `headTimeout` is added to the
  /// time.
  package var minSendRate: Int64 = 8 << 10
  /// The time after which a client that has closed its sending side is assumed to have disconnected.
  package var halfCloseTimeout: Duration = .seconds(1)
  /// The time for which the server discards what a client still sends after an early response, so that the client can
  /// receive the response.
  package var lingerTimeout: Duration = .seconds(30)
  /// The interval without a write after which the heartbeat of a `BodyStream` is written; the second heartbeat detects
  /// a disconnected client.
  package var heartbeat: Duration = .seconds(15)

  package init(host: String = "127.0.0.1", port: UInt16 = 0) {
    self.host = host
    self.port = port
  }
}

/// The times of a connection, from the configuration of its server.
struct ConnectionTimes {
  let idle: Duration
  let head: Duration
  let request: Duration
  let linger: Duration
  let halfClose: Duration
  /// In bytes per second.
  let minReceiveRate: Int64

  init(_ configuration: ServerConfiguration) {
    idle = configuration.idleTimeout
    head = configuration.headTimeout
    request = configuration.requestTimeout
    linger = configuration.lingerTimeout
    halfClose = configuration.halfCloseTimeout
    minReceiveRate = configuration.minReceiveRate
  }
}
