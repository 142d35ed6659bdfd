import AV
import Kernels
import MediaFixtures
import Model
import Testing

@Suite("Orientation", .tags(.media))
struct OrientationTests {
  @Test("all eight ways of lying in the file come out upright, below and on top", arguments: CodedTurn.all)
  func upright(turn: CodedTurn) throws {
    let run = try MomentRun(
      front: MarkedClip(.red, turn: turn).write(), back: MarkedClip(.blue, turn: turn).write())
    #expect(run.isAccepted)
    try CompositionTests.expectMarks(run, inside: .red, outside: .blue, pictures: 150)
  }

  @Test("a turned clip of another size is scaled, turned and still upright", arguments: [CodedTurn.quarter, .mirrored])
  func scaled(turn: CodedTurn) throws {
    let run = try MomentRun(
      front: MarkedClip(.red, width: 360, height: 640, turn: turn).write(),
      back: MarkedClip(.blue, width: 540, height: 960, turn: turn).write())
    try CompositionTests.expectMarks(run, inside: .red, outside: .blue, pictures: 150)
  }

  @Test("stills are upright too", arguments: CodedTurn.all)
  func stills(turn: CodedTurn) throws {
    let run = try MomentRun(
      front: MarkedClip(.red, turn: turn).write(), back: MarkedClip(.blue, turn: turn).write())
    for role in [Role.image, .thumbnailFront, .thumbnailBack, .poster] {
      let picture = try StillImage(run.bytes(role))
      #expect(picture.width < picture.height, "\(role.rawValue)")
      let facts = try #require(run.facts(role))
      #expect(facts.width == picture.width && facts.height == picture.height)
    }
    // The first block of the counter is light and stands at the left, in the lower half.
    let image = try StillImage(run.bytes(.image))
    #expect(image.luma(atX: 0.14, y: 0.6) > 180)
    #expect(image.luma(atX: 0.86, y: 0.6) < 80)
  }

  @Test("pixels that are not square are stretched")
  func sampleAspectRatio() throws {
    var front = MarkedClip(.red, width: 180, height: 480)
    front.sampleAspectRatio = .init(3, 2)
    let run = try MomentRun(front: front.write(), back: MarkedClip(.blue).write())
    #expect(run.report.verdict.inputs[.front]?.facts.video.display == Size(width: 270, height: 480))
    try CompositionTests.expectMarks(run, inside: .red, outside: .blue, pictures: 150)
  }
}
