import MediaFixtures
import Model
import Testing

@testable import Media

@Suite("The written outputs", .tags(.media))
struct WrittenOutputsTests {
  @Test("the report describes each output, and ends with the decision of the privacy check")
  func accepted() throws {
    let moment = try PlannedMoment(
      front: MarkedClip(.red, tone: .init(440)).write(), back: MarkedClip(.blue).write(),
      roles: [.composed, .clipFront, .thumbnailFront])
    let outputs = try moment.openOutputs()
    var progress: [Double] = []
    let report = try WrittenOutputs(of: moment.plan, outputs) { progress.append($0) }.report
    #expect(report.outputs.map(\.role) == [.composed, .clipFront, .thumbnailFront])
    #expect(report.verdict.verdict == .accepted && report.verdict.warnings == [])
    #expect(report.verdict.decisions.dropLast() == outputs.report.decisions[...])
    #expect(report.verdict.decisions.last?.subject == .privacy)
    #expect(report.verdict.inputs.values.allSatisfy { $0.frames == 150 && $0.start != nil })
    #expect(progress.count == 150 && progress == progress.sorted() && progress.first == 0)
  }

  @Test("a clip that is damaged is rejected with the number of its frames before the damage")
  func damaged() throws {
    var bytes = try TemporaryFile.bytes(of: MarkedClip(.red).write())
    // In the middle of the frames.
    for offset in bytes.count * 2 / 3..<bytes.count * 2 / 3 + 40 { bytes[offset] ^= 0x5A }
    let moment = try PlannedMoment(
      front: TemporaryFile.make(bytes), back: MarkedClip(.blue).write(), roles: [.composed])
    let outputs = try moment.openOutputs()
    let verdict = try PlannedMoment.rejection { () throws(RunEnding) in
      try WrittenOutputs(of: moment.plan, outputs)
    }.verdict
    #expect(verdict.reasons.map(\.code) == [.corruptVideo])
    #expect(verdict.decisions == outputs.report.decisions)
    let frames = try #require(verdict.inputs[.front]?.frames)
    #expect((1..<150).contains(frames))
    #expect(verdict.inputs[.front]?.decodedSeconds != nil)
  }
}
