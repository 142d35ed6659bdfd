import AV
import BoxTesting
import Kernels
import MediaFixtures
import Model
import Testing

@testable import Media

@Suite("Orientation", .tags(.media))
struct OrientationTests {
  @Test("all eight orientations become upright, in background and inset", arguments: CodedRotation.all)
  func upright(rotation: CodedRotation) throws {
    let run = try MomentRun(
      front: MarkedClip(.red, rotation: rotation).write(), back: MarkedClip(.blue, rotation: rotation).write())
    #expect(run.isAccepted)
    try CompositionTests.expectMarks(run, inside: .red, outside: .blue, frames: 150)
  }

  @Test("a rotated clip of another size is scaled and becomes upright", arguments: [CodedRotation.quarter, .mirrored])
  func scaled(rotation: CodedRotation) throws {
    let run = try MomentRun(
      front: MarkedClip(.red, width: 360, height: 640, rotation: rotation).write(),
      back: MarkedClip(.blue, width: 540, height: 960, rotation: rotation).write())
    try CompositionTests.expectMarks(run, inside: .red, outside: .blue, frames: 150)
  }

  @Test("stills are upright", arguments: CodedRotation.all)
  func stills(rotation: CodedRotation) throws {
    let run = try MomentRun(
      front: MarkedClip(.red, rotation: rotation).write(), back: MarkedClip(.blue, rotation: rotation).write())
    for role in [Role.image, .thumbnailFront, .thumbnailBack, .poster] {
      let still = try StillImage(run.bytes(role))
      #expect(still.width < still.height, "\(role.rawValue)")
      let facts = try #require(run.facts(role))
      #expect(facts.width == still.width && facts.height == still.height)
    }
    // The first block of the counter is light and is at the left, in the lower half.
    let image = try StillImage(run.bytes(.image))
    #expect(image.luma(atX: 0.14, y: 0.6) > 180)
    #expect(image.luma(atX: 0.86, y: 0.6) < 80)
  }

  @Test("non-square pixels are scaled to square ones")
  func sampleAspectRatio() throws {
    var front = MarkedClip(.red, width: 180, height: 480)
    front.sampleAspectRatio = .init(3, 2)
    let run = try MomentRun(front: front.write(), back: MarkedClip(.blue).write())
    #expect(run.report.verdict.inputs[.front]?.facts.video.display == Size(width: 270, height: 480))
    try CompositionTests.expectMarks(run, inside: .red, outside: .blue, frames: 150)
  }
}

@Suite("Clean aperture", .tags(.media))
struct CleanApertureTests {
  @Test("only the clean aperture is shown, and it is the display size")
  func aperture() throws {
    // 200 x 400 of 240 x 480 samples, 10 to the right of the centre and 20 above it.
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

  @Test(
    "odd sizes are rounded to even ones, upright and rotated", arguments: [CodedRotation.upright, .quarter, .mirrored])
  func oddSizes(rotation: CodedRotation) throws {
    let clips = try [MarkColor.red, .blue].map { color in
      let numbers: [UInt32] = [rotation.swapsAxes ? 401 : 241, 1, rotation.swapsAxes ? 241 : 401, 1, 0, 1, 0, 1]
      let aperture = box("clap", numbers.flatMap { bigEndian($0) })
      let bytes = try TemporaryFile.bytes(of: MarkedClip(color, width: 270, height: 480, rotation: rotation).write())
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
    try run.video(.composed).forEachFrame { frame, seconds in
      let composed = ComposedFrame(frame, inset: inset)
      #expect(composed.insideColors == [.red] && composed.outsideColors == [.blue], "at \(seconds) s")
    }
  }
}
