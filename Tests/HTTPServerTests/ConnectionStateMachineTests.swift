import Platform
import Testing

@testable import HTTPServer

/// Tests of the events of a connection and of the actions that they cause, without a socket.
struct ConnectionStateMachineTests {
  private typealias Walk = ConnectionWalk

  // MARK: Requests

  @Test("a request without a body is read, handled and answered, and the connection persists")
  func exchange() {
    var walk = Walk()
    walk.send(Walk.get)
    #expect(walk.actions == ["begin GET /hello", "complete", "respond 200", "write", "end persists"])
    #expect(walk.machine.name == "idle" && !walk.machine.isWithinRequest)
  }

  private static let steps: [(String, RequestState.Step)] = [
    ("proceed", .proceed), ("wait", .wait), ("respond", .respond(Response(.ok), isEarly: false)),
    ("respond early", .respond(Response(.badRequest), isEarly: true)), ("close", .close),
  ]

  @Test(
    "each step of a request has its action and its state, and has none without a request",
    arguments: Walk.Stage.allCases)
  private func steps(stage: Walk.Stage) {
    for (name, step) in Self.steps {
      var machine = Walk(at: stage).machine
      let former = machine.name
      let action = machine.step(step, at: Walk.start)?.name
      let isInProgress = stage == .receiving || stage == .waiting
      switch name {
      case "proceed": #expect(action == nil && machine.name == (isInProgress ? "receiving" : former))
      case "wait": #expect(action == nil && machine.name == (isInProgress ? "waiting" : former))
      case "respond": #expect(action == (isInProgress ? "respond 200" : nil) && machine.name == former)
      case "respond early": #expect(action == (isInProgress ? "respond 400 last" : nil) && machine.name == former)
      default: #expect(action == (stage == .closed ? nil : "close") && machine.name == "closed")
      }
    }
  }

  @Test("100 Continue is sent once, when all that has arrived is read, and not before an early response")
  func expectation() {
    let head = "POST /count HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n"
    var walk = Walk()
    for piece in [head, "hel", "lo"] { walk.send(piece) }
    let rest = ["complete", "respond 200", "write", "end persists"]
    #expect(walk.actions == ["begin POST /count", "continue", "body hel", "body lo"] + rest)
    walk = Walk()
    for piece in [head + "h", "ello"] { walk.send(piece) }
    #expect(walk.actions == ["begin POST /count", "body h", "continue", "body ello"] + rest)
    walk = Walk()
    walk.handler = .refuses
    walk.send(head)
    #expect(walk.actions == ["begin POST /count", "respond 400 last", "write", "end lingers"])
  }

  @Test("others have their turns after four pipelined requests, and again after as many")
  func pipelining() {
    var walk = Walk()
    walk.send(String(repeating: Walk.get, count: 9))
    for responses in [4, 8] {
      #expect(walk.actions.count { $0 == "respond 200" } == responses)
      #expect(walk.machine.isInterrupted && walk.machine.wanted.isEmpty)
      walk.run(walk.machine.turned())
    }
    #expect(walk.actions.count { $0 == "respond 200" } == 9 && walk.machine.name == "idle")
    // Requests that do not arrive together take no turns.
    for _ in 0..<20 { walk.send(Walk.get) }
    #expect(walk.machine.name == "idle")
  }

  @Test("a handler that is woken continues: only where the connection waits for it", arguments: Walk.Stage.allCases)
  private func wakes(stage: Walk.Stage) {
    let expected: [Walk.Stage: String] = [.waiting: "resume", .loading: "write"]
    #expect(Walk(at: stage).machine.woken()?.name == expected[stage])
  }

  @Test(
    "what a client sent before it reset the connection reaches a request in progress", arguments: Walk.Stage.allCases)
  private func resets(stage: Walk.Stage) {
    var machine = Walk(at: stage).machine
    let isInProgress = stage == .receiving || stage == .waiting
    #expect(machine.receivesRest() == isInProgress)
    guard stage == .receiving else { return }
    #expect(Array("hel".utf8).withUnsafeBytes { machine.received($0, at: Walk.start) }?.name == "body hel")
  }

  // MARK: Responses

  private static let results: [(ResponseWriter.SendResult, isLast: Bool, action: String?, state: String)] = [
    (.done, false, "end persists", "idle"), (.done, true, "end lingers", "lingering"),
    (.blocked, false, nil, "sending"), (.waiting, false, nil, "sending"), (.failed, false, "close", "closed"),
  ]

  @Test("each result of a write has its action and its state")
  func writes() {
    for (result, isLast, action, state) in Self.results {
      var machine = Walk(at: .receiving).machine
      #expect(machine.send(isLast: isLast, until: Walk.start + .seconds(60), at: Walk.start)?.name == "write")
      #expect(machine.sent(result, at: Walk.start)?.name == action)
      #expect(machine.name == state)
    }
  }

  @Test("a client that asks for it, and has sent nothing more, has its connection closed without a pause")
  func closing() {
    let request = "GET /hello HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    for (text, last) in [(request, "end closes"), (request + Walk.get, "end lingers")] {
      var walk = Walk()
      walk.send(text)
      #expect(walk.actions == ["begin GET /hello", "complete", "respond 200 last", "write", last])
    }
  }

  @Test("of a client that goes on after the last response, 64 KiB are discarded")
  func discards() {
    var walk = Walk(at: .lingering)
    walk.send([UInt8](repeating: 0, count: 100_000))
    #expect(walk.machine.wanted.isEmpty && walk.machine.readiness(for: .readable) == nil)
    walk.wait(.seconds(4))
    #expect(walk.actions.isEmpty)
    walk.wait(.seconds(1))
    #expect(walk.actions == ["check unread", "close unread"])
  }

  @Test("the response to a client that has closed its sending side is the last one, and a stream ends")
  func halfClosed() {
    var walk = Walk(at: .waiting)
    #expect(walk.machine.finished(isStreaming: false, at: walk.now) == nil)
    #expect(walk.machine.wanted.isEmpty && walk.machine.readiness(for: .finished) == nil)
    walk.wait(.milliseconds(999))
    #expect(walk.actions.isEmpty)
    walk.wait(.milliseconds(1))
    walk.respond()
    #expect(walk.actions == ["abandon", "resume", "respond 200 last", "write", "end lingers"])
    var stream = Walk(at: .loading)
    #expect(stream.machine.finished(isStreaming: true, at: stream.now)?.name == "close")
  }

  // MARK: Limits

  @Test("a connection over a limit gets a problem, and lingers for a second")
  func rejection() {
    var walk = Walk()
    walk.run(walk.machine.reject(.tooManyConnections))
    #expect(walk.actions == ["refuse 503", "respond 503 last", "write", "end lingers"])
    #expect(!walk.machine.mayClose(at: .connections, isAuthenticated: false))
    (walk.actions, walk.unread) = ([], 100)
    walk.wait(.seconds(1))
    #expect(walk.actions == ["check unread", "close unread"])
  }

  @Test("input for which the address has no room is refused, or closes the connection behind another request")
  func exceeded() {
    var walk = Walk(at: .head)
    walk.run(walk.machine.exceeded())
    #expect(walk.actions == ["refuse 429", "respond 429 last", "write", "end lingers"])
    for stage in [Walk.Stage.receiving, .waiting, .blocked, .loading] {
      var machine = Walk(at: stage).machine
      #expect(machine.exceeded()?.name == "close")
    }
  }

  @Test("received bytes count until a request takes them, unless they are its body or it has a credential")
  func unclaimed() {
    #expect(Walk(at: .head).machine.unclaimedBytes == 8)
    // What was read lies in front of the rest until more arrives, and counts as long.
    #expect(Walk(at: .interrupted).machine.unclaimedBytes == 5 * Walk.get.utf8.count)
    for stage in [Walk.Stage.idle, .receiving, .lingering, .closed] {
      #expect(Walk(at: stage).machine.unclaimedBytes == 0)
    }
    var walk = Walk()
    walk.handler = .silent
    walk.send(Walk.get + Walk.get)
    #expect(walk.machine.unclaimedBytes == 2 * Walk.get.utf8.count)
    let isReleased = [walk.machine.authenticated(), walk.machine.authenticated()]
    #expect(isReleased == [true, false])
    #expect(walk.machine.unclaimedBytes == 0)
    let isCountedAgain = [walk.machine.ended(), walk.machine.ended()]
    #expect(isCountedAgain == [true, false])
  }
}
