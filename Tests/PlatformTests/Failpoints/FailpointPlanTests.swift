import Testing

@testable import Platform

struct FailpointPlanTests {
  static let known = [
    Failpoint("queue.claim", isOnConnection: true), Failpoint("queue.heartbeat", isOnConnection: true),
    Failpoint("blob.link"),
  ]

  @Test func readsRules() throws {
    let plan = try FailpointPlan("queue.claim.after=kill@3,queue.claim.after=cut,blob.link.before=pause:250ms")
    #expect(
      plan.rules == [
        "queue.claim.after": [.init(action: .kill, passage: 3), .init(action: .cut, passage: 1)],
        "blob.link.before": [.init(action: .pause(milliseconds: 250), passage: 1)],
      ])
    try plan.check(Self.known)
  }

  @Test(
    "what cannot be read says how it is written",
    arguments: [
      "queue.claim.before", "=kill", "queue.claim.before=die", "queue.claim.before=kill@0", "queue.claim.before=kill@x",
      "queue.claim.before=pause", "queue.claim.before=pause:0ms", "queue.claim.before=pause:5s",
    ])
  func unreadable(text: String) throws {
    let error = try #require(throws: FailpointError.self) { try FailpointPlan(text) }
    #expect(error.remedy.contains("@") || error.remedy.contains("Write"))
  }

  @Test("a point that does not exist is refused, and its neighbours are named")
  func unknown() throws {
    for text in ["queue.clam.before=kill", "queue.claim=kill", "queue.claim.between=kill"] {
      let error = try #require(throws: FailpointError.self) { try FailpointPlan(text).check(Self.known) }
      #expect(error.remedy.contains("queue.heartbeat, queue.claim"))
    }
    let plan = try FailpointPlan("nonsense.before=kill")
    #expect(throws: FailpointError.self) { try plan.check(Self.known) }
  }

  @Test("only what happens on a connection can be cut")
  func cut() throws {
    #expect(throws: FailpointError.self) { try FailpointPlan("blob.link.after=cut").check(Self.known) }
    try FailpointPlan("queue.heartbeat.after=cut").check(Self.known)
  }

  @Test("an action happens at its passage, and at no other")
  func passages() throws {
    let plan = try FailpointPlan("queue.claim.before=pause:7ms@2,queue.claim.before=cut@3")
    let happened = Locked<[FailpointAction]>([])
    let armed = ArmedFailpoints(plan) { action in happened.withLock { $0.append(action) } }
    #expect(!armed.pass("queue.claim.before"))
    #expect(happened.withLock { $0 } == [])
    #expect(!armed.pass("queue.claim.after"))
    #expect(!armed.pass("queue.claim.before"))
    #expect(happened.withLock { $0 } == [.pause(milliseconds: 7)])
    #expect(armed.pass("queue.claim.before"))
    #expect(!armed.pass("queue.claim.before"))
    #expect(happened.withLock { $0 } == [.pause(milliseconds: 7)])
  }

  @Test("nothing is armed where nobody asked for it")
  func inert() throws {
    #expect(!Failpoints.areArmed)
    #expect(!Failpoints.pass("queue.claim.before"))
    try Failpoints.check([])
  }
}
