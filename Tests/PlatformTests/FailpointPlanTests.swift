import Testing

@testable import Platform

@Suite("Failpoint plans")
struct FailpointPlanTests {
  static let known = [
    Failpoint("queue.claim", isOnConnection: true), Failpoint("queue.heartbeat", isOnConnection: true),
    Failpoint("blob.link"),
  ]

  @Test("rules are parsed")
  func rules() throws {
    let plan = try FailpointPlan("queue.claim.after=kill@3,queue.claim.after=cut,blob.link.before=pause:250ms")
    #expect(
      plan.rules == [
        "queue.claim.after": [.init(action: .kill, passage: 3), .init(action: .cut, passage: 1)],
        "blob.link.before": [.init(action: .pause(milliseconds: 250), passage: 1)],
      ])
    try plan.check(Self.known)
  }

  @Test(
    "a syntax error shows the correct syntax",
    arguments: [
      "queue.claim.before", "=kill", "queue.claim.before=die", "queue.claim.before=kill@0", "queue.claim.before=kill@x",
      "queue.claim.before=pause", "queue.claim.before=pause:0ms", "queue.claim.before=pause:5s",
    ])
  func syntaxErrors(text: String) throws {
    let error = try #require(throws: FailpointError.self) { try FailpointPlan(text) }
    #expect(error.remedy.contains("@") || error.remedy.contains("Write"))
  }

  @Test("an unknown point is rejected, and similar points are named")
  func unknown() throws {
    for text in ["queue.clam.before=kill", "queue.claim=kill", "queue.claim.between=kill"] {
      let error = try #require(throws: FailpointError.self) { try FailpointPlan(text).check(Self.known) }
      #expect(error.remedy.contains("queue.claim, queue.heartbeat"))
    }
    let plan = try FailpointPlan("nonsense.before=kill")
    #expect(throws: FailpointError.self) { try plan.check(Self.known) }
  }

  @Test("cut is allowed only at points with a connection")
  func cut() throws {
    #expect(throws: FailpointError.self) { try FailpointPlan("blob.link.after=cut").check(Self.known) }
    try FailpointPlan("queue.heartbeat.after=cut").check(Self.known)
  }

  @Test("an action happens only at its passage")
  func passages() throws {
    let plan = try FailpointPlan("queue.claim.before=pause:7ms@2,queue.claim.before=cut@3")
    let performed = Locked<[FailpointAction]>([])
    let armed = ArmedFailpoints(plan) { action in performed.withLock { $0.append(action) } }
    #expect(!armed.pass("queue.claim.before"))
    #expect(performed.withLock { $0 } == [])
    #expect(!armed.pass("queue.claim.after"))
    #expect(!armed.pass("queue.claim.before"))
    #expect(performed.withLock { $0 } == [.pause(milliseconds: 7)])
    #expect(armed.pass("queue.claim.before"))
    #expect(!armed.pass("queue.claim.before"))
    #expect(performed.withLock { $0 } == [.pause(milliseconds: 7)])
  }

  @Test("without the variable no failpoint is armed")
  func inert() throws {
    #expect(!Failpoints.areArmed)
    #expect(!Failpoints.pass("queue.claim.before"))
    try Failpoints.check([])
  }
}
