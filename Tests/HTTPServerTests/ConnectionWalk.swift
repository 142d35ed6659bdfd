import Platform

@testable import HTTPServer

/// A connection without a socket: it performs the actions of the state machine for a handler without a task, and keeps their names.
struct ConnectionWalk {
  /// What the handler of each request does.
  enum Handler: CaseIterable {
    /// It reads the body and responds at its end.
    case reads
    /// It responds to the head.
    case refuses
    case silent
  }

  /// Where a connection may wait for an event.
  enum Stage: String, CaseIterable {
    case idle, head, interrupted, receiving, waiting, blocked, loading, lingering, closed
  }

  static let start = ContinuousClock.now
  static let configuration = ServerConfiguration()
  static let get = "GET /hello HTTP/1.1\r\nHost: x\r\n\r\n"
  static let post = "POST /count HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n"

  var machine = ConnectionStateMachine(
    times: ConnectionTimes(configuration), headLimits: HeadParser.Limits(), at: start)
  var request: RequestState?
  var handler = Handler.reads
  var isResumable = false
  /// The results of the next writes, the last one first; after them all is sent.
  var results: [ResponseWriter.SendResult] = []
  /// What the client has not acknowledged.
  var unread = 0
  var now = start
  var actions: [String] = []

  init() {}

  /// A connection that waits at a stage.
  init(at stage: Stage) {
    switch stage {
    case .idle: break
    case .head: send("GET / HT")
    case .interrupted: send(String(repeating: Self.get, count: ConnectionStateMachine.maxPipelined + 1))
    case .receiving: send(Self.post)
    case .waiting:
      handler = .silent
      send(Self.get)
    case .blocked, .loading:
      results = [stage == .blocked ? .blocked : .waiting]
      send(Self.get)
    case .lingering: send("x\r\n\r\n")
    case .closed: run(machine.close())
    }
    actions = []
  }

  // MARK: Events

  mutating func send(_ text: String) { send(Array(text.utf8)) }

  /// The client sends bytes, which arrive in pieces of this length as far as the connection receives them.
  mutating func send(_ bytes: [UInt8], piece: Int = .max) {
    var rest = bytes[...]
    // Ends: each round takes bytes.
    while !rest.isEmpty {
      switch machine.readiness(for: .readable) {
      case .receive:
        let part = rest.prefix(piece)
        rest = rest.dropFirst(piece)
        run(part.withUnsafeBytes { machine.received($0, at: now) })
      case .discard(let maxCount):
        let count = min(maxCount, piece, rest.count)
        rest = rest.dropFirst(count)
        machine.discarded(count, at: now)
      case .write, .finish, nil: return
      }
    }
  }

  /// The handler responds.
  mutating func respond() {
    request?.respond(Response(.ok))
    run(machine.woken())
  }

  /// This time passes, and then the timeouts are checked.
  mutating func wait(_ time: Duration) {
    now += time
    run(machine.tick(isCut: false, at: now))
  }

  // MARK: Actions

  mutating func run(_ first: ConnectionStateMachine.Action?) {
    var action = first
    // Ends: with the input, or when a write or the handler must wait.
    while let due = action {
      actions.append(due.name)
      action = perform(due)
    }
  }

  private mutating func perform(_ action: ConnectionStateMachine.Action) -> ConnectionStateMachine.Action? {
    switch action {
    case .begin(let head): return begin(head)
    case .deliver(let bytes):
      return step { request in
        let step = request.arrived(bytes)
        // Ends: with the chunks.
        while case .chunk = request.read() {}
        return step
      }
    case .complete:
      if handler == .reads { request?.respond(Response(.ok)) }
      return step { $0.ended() }
    case .resume: return step { $0.resumed() }
    case .refuse(let problem): return refuse(problem)
    case .timeOut:
      return step { request in
        request.respond(Problem.tooSlow.response)
        request.fail(.deadlineExceeded, cutting: false)
        return request.resumed()
      }
    case .cut: return machine.close()
    case .abandon, .finishStream: return nil
    case .sendContinue: return machine.next()
    case .respond(_, let isLast): return machine.send(isLast: isLast, until: now + .seconds(60), at: now)
    case .write: return machine.sent(results.popLast() ?? .done, at: now)
    case .checkUnread: return machine.foundUnread(unread, at: now)
    case .end:
      request = nil
      _ = machine.ended()
      return machine.next()
    case .close:
      request = nil
      _ = machine.ended()
      return nil
    }
  }

  private mutating func begin(_ head: RequestHead) -> ConnectionStateMachine.Action? {
    var started = RequestState(hasBody: head.hasBody, limits: .init(body: 1 << 40, buffered: 1 << 30))
    switch handler {
    case .reads: _ = started.read()
    case .refuses: started.respond(Response(.badRequest))
    case .silent: break
    }
    request = started
    let bodyTime = BodyTime(
      maxBytes: head.contentLength ?? 1 << 40, isResumable: isResumable, Self.configuration)
    machine.begin(Exchange(head, isResumable: isResumable, bodyTime: bodyTime), at: now)
    return step { $0.headArrived() }
  }

  private mutating func refuse(_ problem: Problem) -> ConnectionStateMachine.Action? {
    if request == nil {
      request = RequestState(hasBody: true, limits: .init(body: 0, buffered: 0))
      request?.respond(problem.response)
      machine.begin(.refused, at: now)
      return step { $0.headArrived() }
    }
    return step { request in
      request.respond(problem.response)
      request.fail(.disconnected, cutting: false)
      return request.resumed()
    }
  }

  private mutating func step(
    _ ask: (inout RequestState) -> RequestState.Step
  ) -> ConnectionStateMachine.Action? {
    guard var asked = request else { return machine.close() }
    let step = ask(&asked)
    request = asked
    return machine.step(step, at: now)
  }
}

extension ConnectionStateMachine {
  /// The name of the state.
  var name: String {
    switch state {
    case .idle: "idle"
    case .interrupted: "interrupted"
    case .receiving: "receiving"
    case .waiting: "waiting"
    case .sending: "sending"
    case .lingering: "lingering"
    case .closed: "closed"
    }
  }
}

extension ConnectionStateMachine.Action {
  var name: String {
    switch self {
    case .begin(let head): "begin \(head.method) \(head.target.path)"
    case .deliver(let bytes): "body \(String(decoding: bytes, as: UTF8.self))"
    case .complete: "complete"
    case .resume: "resume"
    case .refuse(let problem): "refuse \(problem.status.code)"
    case .timeOut: "time out"
    case .cut: "cut"
    case .abandon: "abandon"
    case .sendContinue: "continue"
    case .respond(let response, let isLast): "respond \(response.status.code)" + (isLast ? " last" : "")
    case .write: "write"
    case .end(let ending): "end \(ending)"
    case .finishStream: "finish stream"
    case .checkUnread: "check unread"
    case .close(let isUnread): isUnread ? "close unread" : "close"
    }
  }
}
