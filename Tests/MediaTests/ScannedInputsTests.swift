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
    #expect(abs(try #require(scanned.report.moment?.offsetSeconds) - 0.2) < 0.01)
    #expect(scanned.shifts == [.front: 6])
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
  private static let grid = TimeGrid(rate: 30)

  private static func span(
    offset: Double?, front: Double = 5, back: Double = 5.1, shortest: Double = 4.5, maxHeld: Double = 0.5
  ) -> CommonSpan {
    CommonSpan(
      of: [.front: front, .back: back], wanted: CommonSpan.shifts(offset: offset, grid: grid), grid: grid,
      shortest: shortest, maxHeld: maxHeld)
  }

  @Test("the clip that starts earlier is shifted by whole ticks")
  func shifts() {
    #expect(Self.span(offset: 0.2).shifts == [.front: 6])
    #expect(abs(Self.span(offset: 0.2).seconds - 4.8) < 1e-9)
    #expect(Self.span(offset: -0.2).shifts == [.back: 6])
    #expect(abs(Self.span(offset: -0.2).seconds - 4.9) < 1e-9)
    #expect(Self.span(offset: -0.2).decision == nil && Self.span(offset: -0.2).warning == nil)
  }

  @Test("clips with the same start or an unknown offset are not shifted", arguments: [nil, 0, 0.01, -0.01])
  func together(offset: Double?) {
    let span = Self.span(offset: offset, shortest: 6)
    #expect(span.shifts == [:] && span.seconds == 5 && span.decision == nil && span.rest == 0)
  }

  @Test(
    "aligned clips with too little in common are aligned all the same, and one holds its last frame",
    arguments: [(5.0, 0.2, 4.8), (4.6, 0.2, 4.5), (4.9, 0.45, 4.5), (5.0, 0.9, 4.5), (4.5, 0.5, 4.5), (5.0, 1.0, 4.5)])
  func held(duration: Double, offset: Double, seconds: Double) {
    for sign in [1.0, -1] {
      let span = Self.span(offset: sign * offset, front: duration, back: duration)
      let shift = Int((sign * offset * 30).rounded())
      #expect(span.shifts == (sign > 0 ? [.front: shift] : [.back: -shift]))
      #expect(span.rest == 0 && span.warning == nil && abs(span.seconds - seconds) < 1e-9)
      let held = 4.5 - duration + Double(abs(shift)) / 30
      #expect((span.decision != nil) == (held > 0))
      if held > 0 {
        let choice = "applied; the \(sign > 0 ? "front" : "back") holds its last frame for \(held.hundredths) s"
        #expect(span.decision?.choice == choice)
      }
    }
  }

  @Test("what is left of an offset is said, and is none that could have been applied", arguments: 130...170)
  func rest(ticks: Int) {
    let duration = Double(ticks) / 30
    var before = 0
    for offset in 0...60 {
      for maxHeld in [0, 0.2, 0.5] where duration >= 4.5 {
        let span = Self.span(offset: Double(offset) / 30, front: duration, back: duration, maxHeld: maxHeld)
        let expected = max(0, offset - (ticks - 135 + Int((maxHeld * 30).rounded())))
        #expect(abs(span.rest - Double(expected) / 30) < 1e-9, "an offset of \(offset) frames")
        #expect(span.shifts[.front, default: 0] == offset - expected && span.shifts[.back] == nil)
        // One frame, 33 ms, is not noticed.
        #expect((span.warning != nil) == (expected > 1))
        // No frame is held for longer than allowed, and the span is as long as it has to be.
        #expect(duration - Double(offset - expected) / 30 + maxHeld > span.seconds - 1e-6)
        #expect(span.seconds > 4.5 - 1e-9 && span.seconds <= max(4.5, duration) + 1e-9)
        if maxHeld == 0.5 {
          #expect(expected >= before, "it grows with the offset")
          before = expected
        }
      }
    }
  }

  @Test("the clip that is shifted may be the longer one, which has more to give")
  func longer() {
    // Of 5.5 s the first 1.5 s can be left out, if half a second of the rest is held.
    let span = Self.span(offset: 1.5, front: 5.5, back: 5)
    #expect(span.shifts == [.front: 45] && span.rest == 0 && abs(span.seconds - 4.5) < 1e-9)
    #expect(abs(Self.span(offset: 2, front: 5.5, back: 5).rest - 0.5) < 1e-9)
    #expect(abs(Self.span(offset: -2, front: 5.5, back: 5).rest - 1) < 1e-9)
  }

  @Test("a part of an offset is applied with a decision and a warning")
  func part() {
    let span = Self.span(offset: 1.9, back: 5)
    #expect(span.shifts == [.front: 30] && span.seconds == 4.5)
    #expect(
      span.decision
        == Decision(
          .alignment, choice: "applied but for 0.9 s; the front holds its last frame for 0.5 s",
          reason: "the clips would have less than 4.5 s in common"))
    #expect(span.warning?.code == .notAligned)
    #expect(span.warning?.detail.hasPrefix("The composed clips are 0.9 s apart") == true)
  }

  @Test(
    "what is left of an offset is warned of where a viewer notices it, at every rate",
    arguments: [(10, 1), (20, 1), (24, 2), (25, 2), (30, 2), (50, 3), (60, 3)])
  func noticed(rate: Int, first: Int) {
    for frames in 0...4 {
      let grid = TimeGrid(rate: rate)
      let span = CommonSpan(
        of: [.front: 4.5, .back: 4.5], wanted: CommonSpan.shifts(offset: Double(frames) / Double(rate), grid: grid),
        grid: grid, shortest: 4.5, maxHeld: 0)
      #expect(abs(span.rest - Double(frames) / Double(rate)) < 1e-9)
      #expect((span.warning != nil) == (frames >= first), "\(frames) frames of \(rate)")
      // What is done is logged all the same.
      #expect((span.decision != nil) == (frames > 0))
    }
  }

  @Test("clips that are too short without a shift, too, are as long as they are")
  func tooShort() {
    let span = Self.span(offset: 0.2, shortest: 5.4)
    #expect(span.shifts == [:] && span.seconds == 5)
    #expect(
      span.decision
        == Decision(
          .alignment, choice: "not applied", reason: "the clips would have less than 5.4 s in common"))
    // Rounding is not too short.
    #expect(Self.span(offset: 0.2, front: 4.497, back: 4.497).shifts == [.front: 6])
  }

  @Test("an unbounded time to hold a frame shifts no clip beyond its end")
  func unbounded() {
    let span = Self.span(offset: 20, front: 5, back: 5, maxHeld: 1e300)
    #expect(span.shifts == [.front: 150] && span.seconds == 4.5)
  }
}
