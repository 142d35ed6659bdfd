import BoxTesting
import MediaFixtures
import Model
import Testing

@testable import Media

@Suite("Clean aperture and shapes", .tags(.media))
struct CleanApertureTests {
  @Test("only the clean aperture is shown, and counts as the size")
  func aperture() throws {
    // 200 x 400 of 240 x 480 samples, 10 to the right of the middle and 20 above it.
    let numbers: [Int32] = [200, 1, 400, 1, 10, 1, -20, 1]
    let aperture = box("clap", numbers.flatMap { bigEndian(UInt32(bitPattern: $0)) })
    let bytes = try TemporaryFile.bytes(of: MarkedClip(.red, width: 240, height: 480).write())
    let file = try TemporaryFile.make(
      try #require(inserting(aperture, into: ["moov", "trak", "mdia", "minf", "stbl", "stsd", "avc1"], of: bytes)))
    let run = try MomentRun(front: file, back: MarkedClip(.blue).write())
    #expect(run.codes == [])
    let video = try #require(run.report.verdict.inputs[.front]?.facts.video)
    #expect(video.display == Size(width: 200, height: 400))
    #expect(video.cleanAperture == Rectangle(x: 30, y: 20, width: 200, height: 400))
    #expect(run.plan?.clips.first { $0.role == .clipFront }?.mode == .encode)
    #expect(run.facts(.clipFront).map { Size(width: $0.width, height: $0.height) } == Size(width: 200, height: 400))
    #expect(
      FrameLayout(video).crop(filling: Size(width: 200, height: 400))
        == Rectangle(x: 30, y: 20, width: 200, height: 400))
  }

  @Test("odd sizes are made even, upright and turned", arguments: [CodedTurn.upright, .quarter, .mirrored])
  func oddSizes(turn: CodedTurn) throws {
    let clips = try [MarkColor.red, .blue].map { color in
      let numbers: [UInt32] = [turn.swapsAxes ? 401 : 241, 1, turn.swapsAxes ? 241 : 401, 1, 0, 1, 0, 1]
      let aperture = box("clap", numbers.flatMap { bigEndian($0) })
      let bytes = try TemporaryFile.bytes(of: MarkedClip(color, width: 270, height: 480, turn: turn).write())
      let path = ["moov", "trak", "mdia", "minf", "stbl", "stsd", "avc1"]
      return try TemporaryFile.make(try #require(inserting(aperture, into: path, of: bytes)))
    }
    let run = try MomentRun(front: clips[0], back: clips[1])
    #expect(run.codes == [])
    #expect(run.report.verdict.inputs[.front]?.facts.video.display == Size(width: 241, height: 401))
    for output in run.report.outputs {
      #expect(output.width % 2 == 0 && output.height % 2 == 0, "\(output.role.rawValue)")
    }
    let inset = try #require(run.plan?.composition?.inset)
    try run.video(.composed).forEachPicture { picture, seconds in
      let composed = ComposedFrame(picture, inset: inset)
      #expect(composed.insideColors == [.red] && composed.outsideColors == [.blue], "at \(seconds) s")
    }
  }
}
