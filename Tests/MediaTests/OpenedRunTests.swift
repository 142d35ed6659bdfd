import MediaFixtures
import Model
import Testing

@testable import Media

@Suite("The opened clips", .tags(.media))
struct OpenedClipsTests {
  @Test("a clip of other colours has a decision, and no frame is decoded")
  func colors() throws {
    let moment = try PlannedMoment(
      front: MarkedClip(.red, codec: .hevc10).write(), back: MarkedClip(.blue).write())
    let clips = try moment.openClips()
    #expect(clips.clips.map(\.reader.source.name) == [.back, .front])
    #expect(clips.clips.allSatisfy { $0.monitor != nil && $0.reader.frames == 0 })
    let decisions = clips.report.decisions
    #expect(decisions.dropLast() == clips.scanned.report.decisions[...])
    #expect(decisions.last?.subject == .color && decisions.last?.input == .front)
  }

  @Test("the rejection of the second clip reports the first as open")
  func secondClip() throws {
    var moment = try PlannedMoment(front: MarkedClip(.red).write(), back: MarkedClip(.blue).write())
    // Without a limit on the duration the clips are opened unscanned.
    moment.plan.limits.seconds = nil
    moment.plan.inputs[.front]?.facts.video.stream = 9
    let verdict = try PlannedMoment.rejection(of: moment.openClips).verdict
    #expect(verdict.reasons.map(\.code) == [.noVideoStream])
    #expect(verdict.inputs[.back]?.frames == 0 && verdict.inputs[.back]?.decodedSeconds == 0)
    #expect(verdict.inputs[.front]?.frames == nil)
  }
}

@Suite("The opened outputs", .tags(.media))
struct OpenedOutputsTests {
  private static func moment(roles: Set<Role>) throws -> PlannedMoment {
    try PlannedMoment(
      front: MomentTests.clip(.red).write(), back: MomentTests.clip(.blue, late: 6).write(), roles: roles)
  }

  @Test("each output receives what it needs of its clip, and no frame is decoded")
  func taps() throws {
    let moment = try Self.moment(roles: [.composed, .poster, .clipFront, .thumbnailBack])
    let outputs = try moment.openOutputs()
    #expect(outputs.compositions.map(\.ticks) == [144])
    #expect(outputs.span?.shifts == [.front: 6])
    #expect(outputs.clipOutputs.map(\.reader.source.name) == [.front])
    #expect(outputs.stills.map(\.writer.plan.role) == [.thumbnailBack] && outputs.preview == nil)
    let front = try outputs.clips.clip(.front).reader
    let back = try outputs.clips.clip(.back).reader
    // The audio of the composed video, the video and the audio of the copied clip; the monitor.
    #expect(front.packetTaps.count == 3 && front.frameTaps.count == 1)
    // The monitor and the thumbnail.
    #expect(back.packetTaps.isEmpty && back.frameTaps.count == 2)
    #expect(front.frames == 0 && back.frames == 0)
    let decisions = outputs.report.decisions.dropFirst(outputs.clips.report.decisions.count)
    #expect(decisions.map(\.subject) == [.timeGrid, .scaling, .scaling])
  }

  @Test("clips with too little in common are rejected, after the decision not to align them")
  func tooShort() throws {
    var moment = try Self.moment(roles: [.composed])
    moment.plan.compositions[0].seconds.shortest = 5.4
    let verdict = try PlannedMoment.rejection { () throws(RunEnding) in try moment.openOutputs() }.verdict
    #expect(verdict.reasons.map(\.code) == [.durationOutOfRange])
    #expect(verdict.decisions.suffix(2).map(\.subject) == [.alignment, .alignment])
    #expect(verdict.decisions.last?.choice == "not applied")
    #expect(verdict.inputs.values.allSatisfy { $0.frames == 0 })
  }

  @Test("an output without a file fails the run without a verdict")
  func missingFile() throws {
    let moment = try Self.moment(roles: [.clipBack])
    let ending = #expect(throws: RunEnding.self) { _ = try moment.openOutputs(hasFiles: false) }
    guard case .failed(let error) = ending else {
      Issue.record("the run ended with \(String(describing: ending))")
      return
    }
    #expect(error == MediaError(.invalidPlan, "the plan needs a file for clip.back, which is missing"))
  }
}
