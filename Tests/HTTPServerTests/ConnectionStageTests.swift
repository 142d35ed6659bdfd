import Platform
import Testing

@testable import HTTPServer

/// Tests of what a connection waits for and of its timeouts, for each stage at which it may wait.
struct ConnectionStageTests {
  private typealias Walk = ConnectionWalk

  /// What is expected of a connection that waits at a stage.
  private struct Row {
    let stage: Walk.Stage
    let wanted: EventPoll.Condition
    let readiness: ConnectionStateMachine.Readiness?
    var isWithinRequest = false
    /// The limits at which the connection of a client without a credential may be closed for others.
    let closableAt: [Refusal]
    /// Until when nothing times out, in seconds.
    let timeout: Int?
    let onTimeout: [String]
    let onStop: String?
  }

  private static let late = ["time out", "respond 408 last", "write", "end lingers"]
  private static let refused = ["refuse 408", "respond 408 last", "write", "end lingers"]
  private static let unread = ["check unread", "close unread"]

  private static let rows = [
    Row(
      stage: .idle, wanted: .readable, readiness: .receive, closableAt: [.connections, .address], timeout: 30,
      onTimeout: unread, onStop: "close"),
    Row(
      stage: .head, wanted: .readable, readiness: .receive, isWithinRequest: true,
      closableAt: [.connections, .address], timeout: 29, onTimeout: refused, onStop: nil),
    Row(
      stage: .interrupted, wanted: [], readiness: nil, isWithinRequest: true, closableAt: [.connections, .address],
      timeout: 29, onTimeout: refused, onStop: nil),
    Row(
      stage: .receiving, wanted: .readable, readiness: .receive, isWithinRequest: true, closableAt: [.connections],
      timeout: 9, onTimeout: late, onStop: nil),
    // The request is complete: its connection persists.
    Row(
      stage: .waiting, wanted: .finished, readiness: .finish, closableAt: [], timeout: 599,
      onTimeout: ["time out", "respond 408", "write", "end persists"], onStop: nil),
    Row(
      stage: .blocked, wanted: .writable, readiness: .write, closableAt: [.connections, .address], timeout: 30,
      onTimeout: ["close unread"], onStop: "finish stream"),
    Row(
      stage: .loading, wanted: .finished, readiness: .write, closableAt: [], timeout: 59,
      onTimeout: ["close unread"], onStop: "finish stream"),
    Row(
      stage: .lingering, wanted: .readable, readiness: .discard(64 << 10), closableAt: [.connections, .address],
      timeout: 29, onTimeout: unread, onStop: nil),
    Row(stage: .closed, wanted: [], readiness: nil, closableAt: [], timeout: nil, onTimeout: [], onStop: nil),
  ]

  @Test("each stage has its events, its limits, its timeout and its end")
  func stages() {
    #expect(Self.rows.map(\.stage) == Walk.Stage.allCases)
    for row in Self.rows {
      let machine = Walk(at: row.stage).machine
      #expect(machine.wanted == row.wanted, "\(row.stage)")
      #expect(machine.readiness(for: [.readable, .writable, .finished]) == row.readiness, "\(row.stage)")
      #expect(machine.readiness(for: []) == nil, "\(row.stage)")
      #expect(machine.isWithinRequest == row.isWithinRequest, "\(row.stage)")
      for limit in [Refusal.connections, .address] {
        let mayClose = machine.mayClose(at: limit, isAuthenticated: false)
        #expect(mayClose == row.closableAt.contains(limit), "\(row.stage) at \(limit)")
        let hasRequest = machine.exchange != nil
        #expect(machine.mayClose(at: limit, isAuthenticated: true) == (mayClose && !hasRequest), "\(row.stage)")
      }
      var stopping = machine
      #expect(stopping.stop()?.name == row.onStop, "\(row.stage)")
      var closing = machine
      #expect(closing.close()?.name == (row.stage == .closed ? nil : "close") && closing.isClosed, "\(row.stage)")
    }
  }

  @Test("each stage times out in its time, and not before")
  func timeouts() {
    for row in Self.rows {
      var walk = Walk(at: row.stage)
      walk.wait(.seconds(row.timeout ?? 100_000))
      #expect(walk.actions.isEmpty, "\(row.stage)")
      walk.wait(.seconds(1))
      #expect(walk.actions == row.onTimeout, "\(row.stage)")
    }
  }

  @Test("a response has its time, and one whose stream is cut has none")
  func responses() {
    var walk = Walk(at: .loading)
    #expect(walk.machine.tick(isCut: true, at: walk.now)?.name == "close unread")
    walk = Walk(at: .blocked)
    for second in 0..<59 {
      walk.results = [.blocked]
      walk.run(walk.machine.next())
      walk.wait(.seconds(1))
      #expect(walk.machine.name == "sending", "\(second)")
    }
    walk.wait(.seconds(1))
    #expect(walk.actions.last == "close unread")
  }

  @Test("the client of a slow link is waited for as long as it reads")
  func unreadBytes() {
    var walk = Walk()
    for unread in [300, 200, 100] {
      (walk.actions, walk.unread) = ([], unread)
      walk.wait(.seconds(31))
      #expect(walk.actions == ["check unread"])
    }
    walk.actions = []
    walk.wait(.seconds(31))
    #expect(walk.actions == ["check unread", "close unread"])
  }

  @Test(
    "an upload goes on beyond the time of a request while it arrives, and is cut without a response",
    arguments: [true, false])
  func resumable(isResumable: Bool) {
    var walk = Walk()
    walk.isResumable = isResumable
    walk.send("PATCH /upload HTTP/1.1\r\nHost: x\r\nContent-Length: 100000000\r\n\r\n")
    for _ in 0..<35 {
      walk.wait(.seconds(20))
      walk.send([UInt8](repeating: 0x61, count: 20 * 8192))
    }
    #expect(walk.actions.contains("time out") == !isResumable)
    guard isResumable else { return }
    #expect(walk.machine.name == "receiving")
    walk.wait(.seconds(31))
    #expect(walk.actions.suffix(2) == ["cut", "close"])
  }
}
