import MediaFixtures
import Model
import Testing

@testable import Media

@Suite("The scan of the inputs", .tags(.media))
struct ScannedInputsTests {
  @Test("clips of one moment have an offset, and the grid of the canvas")
  func moment() throws {
    let moment = try PlannedMoment(
      front: MomentTests.clip(.red).write(), back: MomentTests.clip(.blue, late: 6).write())
    let scanned = try moment.scan()
    #expect(scanned.inputs.map(\.name) == [.back, .front])
    #expect(scanned.inputs.map(\.scan?.times.count) == [150, 150])
    #expect(scanned.grid == TimeGrid(rate: 30))
    #expect(abs(try #require(scanned.offset) - 0.2) < 0.01)
    #expect(scanned.report.moment?.offsetSeconds == scanned.offset)
    #expect(scanned.report.decisions.dropLast() == moment.plan.decisions[...])
    #expect(scanned.report.decisions.last?.subject == .alignment)
    #expect(scanned.report.warnings == [])
  }

  @Test("clips of different durations are rejected with the decisions of the plan, and no frame is decoded")
  func durations() throws {
    let moment = try PlannedMoment(
      front: MarkedClip(.red, seconds: 4.6).write(), back: MarkedClip(.blue, seconds: 5.4).write())
    let verdict = try PlannedMoment.rejection(of: moment.scan).verdict
    #expect(verdict.reasons.map(\.code) == [.durationsDiffer])
    #expect(verdict.decisions == moment.plan.decisions)
    #expect(verdict.inputs == moment.plan.inputs.mapValues { InputReport(facts: $0.facts) })
    #expect(verdict.warnings == [] && verdict.moment == nil)
  }

  @Test("the rejection of two moments reports what their audio shows")
  func twoMoments() throws {
    var definition = try MomentRun.definition()
    definition.moment = Definition.Moment(doubt: .refuse)
    let moment = try PlannedMoment(
      front: MomentTests.clip(.red, seed: 1).write(), back: MomentTests.clip(.blue, seed: 99).write(),
      definition: definition)
    let verdict = try PlannedMoment.rejection(of: moment.scan).verdict
    #expect(verdict.reasons.map(\.code) == [.notOneMoment])
    #expect(verdict.decisions.count == moment.plan.decisions.count + 1)
    #expect(verdict.decisions.last?.subject == .alignment)
    #expect(verdict.moment != nil && verdict.moment?.offsetSeconds == nil)
  }

  @Test(
    "without a composition the grid has the highest rate of the inputs, or an even share within the limit of the clips")
  func grid() throws {
    var moment = try PlannedMoment(
      front: MarkedClip(.red, framesPerSecond: 60).write(), back: MarkedClip(.blue).write())
    moment.plan.compositions = []
    #expect(try moment.scan().grid == TimeGrid(rate: 60))
    moment.plan.clips[0].framesPerSecond = 24
    #expect(try moment.scan().grid == TimeGrid(rate: 20))
  }
}

@Suite("The common span of two clips")
struct CommonSpanTests {
  private static func span(offset: Double?, shortest: Double = 4.5) -> CommonSpan {
    CommonSpan(of: [.front: 5, .back: 5.1], offset: offset, grid: TimeGrid(rate: 30), shortest: shortest)
  }

  @Test("the clip that starts earlier is shifted by whole ticks")
  func shifts() {
    #expect(Self.span(offset: 0.2).shifts == [.front: 6])
    #expect(abs(Self.span(offset: 0.2).seconds - 4.8) < 1e-9)
    #expect(Self.span(offset: -0.2).shifts == [.back: 6])
    #expect(abs(Self.span(offset: -0.2).seconds - 4.9) < 1e-9)
    #expect(Self.span(offset: -0.2).decision == nil)
  }

  @Test("clips with the same start or an unknown offset are not shifted", arguments: [nil, 0, 0.01, -0.01])
  func together(offset: Double?) {
    let span = Self.span(offset: offset, shortest: 6)
    #expect(span.shifts == [:] && span.seconds == 5 && span.decision == nil)
  }

  @Test("clips that would have too little in common are not shifted")
  func tooShort() {
    let span = Self.span(offset: 0.2, shortest: 4.9)
    #expect(span.shifts == [:] && span.seconds == 5)
    #expect(
      span.decision
        == Decision(
          .alignment, choice: "not applied", reason: "the clips would have less than 4.9 s in common"))
  }
}
