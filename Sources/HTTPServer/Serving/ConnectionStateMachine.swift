internal import Platform

/// The state of one connection, without a socket, a thread or a clock.
///
/// The network thread reports each event with its time. An event returns the action that is due, and after an action `next()` returns
/// the following one; nil: the connection waits for another event.
struct ConnectionStateMachine {
  typealias Instant = ContinuousClock.Instant

  enum State {
    /// The connection is between two requests or receives a head.
    case idle
    /// Requests have been received that wait for the next turn.
    case interrupted
    case receiving(Exchange)
    /// The connection waits for the handler.
    case waiting(Exchange)
    case sending(Exchange, Sending)
    /// The last response has been sent. Further input is discarded, so that no reset overtakes the response (RFC 9112,
    /// section 9.6), up to a limit: beyond it the window of the client closes, and the rest of its body stays with it.
    case lingering(discardable: Int)
    case closed
  }

  /// A response on its way.
  struct Sending {
    /// Whether the connection is closed after the response.
    let isLast: Bool
    /// What the response waits for.
    var obstacle: Obstacle?
  }

  enum Obstacle {
    /// The socket accepts no more bytes.
    case socket
    /// The stream has no bytes, or those of a file are being loaded.
    case body
  }

  /// What the network thread does next.
  enum Action {
    /// Start a request; its first step follows `begin`.
    case begin(RequestHead)
    /// Pass a chunk of the body to the request, whose step follows.
    case deliver([UInt8])
    /// Report the end of the request, whose step follows.
    case complete
    /// Ask the request for the step of a connection that was woken.
    case resume
    /// Respond with a problem, in place of the handler if there is a request.
    case refuse(Problem)
    /// Respond that the request takes too long, and cancel a handler that only reads.
    case timeOut
    /// Let the handler fail and close the connection without a response.
    case cut
    /// Cancel a handler that only reads, because the client has disconnected.
    case abandon
    /// Send 100 Continue.
    case sendContinue
    /// Send the head of a response; `send` follows.
    case respond(Response, isLast: Bool)
    /// Send as much of the response as the socket accepts; `sent` follows.
    case write
    /// End the request, whose response has been sent.
    case end(Ending)
    /// Finish the stream of the response, because the server is stopping.
    case finishStream
    /// Ask the system what the client has not acknowledged; `foundUnread` follows.
    case checkUnread
    /// Close the connection; with `isUnread`, the system keeps nothing of what the client has not read.
    case close(isUnread: Bool)
  }

  /// What a complete response leaves.
  enum Ending { case persists, lingers, closes }

  /// The share that the connection counts for.
  enum Claim { case address, credential, nothing }

  /// The number of bytes that are discarded after the last response.
  static let maxDiscardedBytes = 64 << 10
  /// The number of requests that are handled before other connections have their turns: a client may have sent thousands.
  static let maxPipelined = 4

  let times: ConnectionTimes
  let headLimits: HeadParser.Limits
  var state = State.idle
  var input: RequestReader
  var claim = Claim.address
  /// The number of requests since the connection last waited.
  var pipelined = 0
  /// The time when the client was found to have closed its sending side.
  var peerFinished: Instant?
  /// The bytes that the client had not acknowledged when it was found idle.
  var lastUnread = Int.max
  var deadline: Instant
  /// The time when the client last sent or received something.
  var lastProgress: Instant

  init(times: ConnectionTimes, headLimits: HeadParser.Limits, at now: Instant) {
    self.times = times
    self.headLimits = headLimits
    input = RequestReader(limits: headLimits)
    deadline = now + times.head
    lastProgress = now
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
