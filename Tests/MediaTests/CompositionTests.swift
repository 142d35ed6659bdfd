import AV
import Kernels
import MediaFixtures
import Model
import Platform
import Testing

@testable import Media

@Suite("Composition", .tags(.media))
struct CompositionTests {
  static let front = MarkedClip(.red, tone: .init(440))
  static let back = MarkedClip(.blue, tone: .init(1000))

  /// Checks every frame of the composed video.
  ///
  /// - Parameter maxDifference: the largest difference between the two frame counters.
  static func expectMarks(
    _ run: MomentRun, inside: MarkColor, outside: MarkColor, frames: Int, maxDifference: Int = 0
  ) throws {
    let inset = try #require(run.plan?.composition?.inset)
    var numbers: [Int] = []
    try run.video(.composed).forEachFrame { frame, seconds in
      let composed = ComposedFrame(frame, inset: inset)
      #expect(composed.insideColors == [inside], "at \(seconds) s")
      #expect(composed.outsideColors == [outside], "at \(seconds) s")
      let (front, back) = (try #require(composed.inset), try #require(composed.background))
      #expect(abs(front - back) <= maxDifference, "at \(seconds) s")
      numbers.append(back)
    }
    #expect(numbers.count == frames)
    #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $0 <= $1 }, "the counters do not decrease")
  }

  @Test("the inset shows the front clip, the background the back clip, in sync, with the front's audio")
  func frontInForeground() throws {
    let run = try MomentRun(front: Self.front.write(), back: Self.back.write())
    #expect(run.isAccepted)
    try Self.expectMarks(run, inside: .red, outside: .blue, frames: 150)
    let audio = try #require(try run.video(.composed).audio())
    #expect(audio.strength(of: 440) > 0.3)
    #expect(audio.strength(of: 1000) < 0.01)
  }

  @Test("with the back in the foreground the clips are exchanged; the image is still the back's")
  func backInForeground() throws {
    let run = try MomentRun(front: Self.front.write(), back: Self.back.write(), foreground: .back)
    try Self.expectMarks(run, inside: .blue, outside: .red, frames: 150)
    let audio = try #require(try run.video(.composed).audio())
    #expect(audio.strength(of: 1000) > 0.3)
    #expect(audio.strength(of: 440) < 0.01)
    let image = try StillImage(run.bytes(.image))
    #expect(image.color(atX: 0.5, y: 0.25) == .blue)
  }

  @Test("drawing the inset does not change the frames of either clip")
  func untouchedSources() throws {
    // Late in a GOP, where a changed reference frame would affect the following frames.
    var (front, back) = (Self.front, Self.back)
    front.isReordered = true
    back.isReordered = true
    var definition = try MomentRun.definition()
    definition.outputs[.thumbnailFront]?.still?.at = 0.88
    definition.outputs[.thumbnailBack]?.still?.at = 0.88
    let run = try MomentRun(front: front.write(), back: back.write(), definition: definition)
    for (role, color) in [(Role.thumbnailFront, MarkColor.red), (.thumbnailBack, .blue), (.image, .blue)] {
      let still = try StillImage(run.bytes(role))
      for x in [0.05, 0.2, 0.35, 0.6] {
        #expect(still.color(atX: x, y: x / 2) == color, "\(role.rawValue) at \(x)")
      }
    }
    let poster = try StillImage(run.bytes(.poster))
    #expect(poster.color(atX: 0.2, y: 0.15) == .red)
    #expect(poster.color(atX: 0.7, y: 0.15) == .blue)
    #expect(poster.counter == 30)
  }

  @Test("the file has the size, codec, frame rate, duration and box order of the built-in definition")
  func container() throws {
    let front = MarkedClip(.red, width: 1080, height: 1920, tone: .init(440))
    let back = MarkedClip(.blue, width: 1080, height: 1920, tone: .init(1000))
    let run = try MomentRun(
      front: front.write(), back: back.write(), definition: MomentRun.definition(width: 1080, height: 1920))
    try Self.expectMarks(run, inside: .red, outside: .blue, frames: 150)
    let video = try run.video(.composed)
    let stream = try #require(video.stream(.video))
    #expect(stream.codec == "h264")
    #expect(stream.width == 1080 && stream.height == 1920)
    #expect(stream.frameRate == Rational(30, 1))
    #expect(stream.displayMatrix == nil)
    #expect(stream.color == .bt709)
    #expect((4.9...5.1).contains(video.duration))
    #expect(video.stream(.audio)?.codec == "aac")
    let boxes = TopLevelBoxes(try run.bytes(.composed)).names
    #expect(try #require(boxes.firstIndex(of: "moov")) < #require(boxes.firstIndex(of: "mdat")))
    let facts = try #require(run.facts(.composed))
    #expect(facts.width == 1080 && facts.height == 1920 && facts.duration == 5)
    #expect(facts.bytes == Int64(try run.bytes(.composed).count))
  }

  @Test("the audio is the background's if the foreground has none, and missing if neither has any")
  func silence() throws {
    var silent = Self.front
    silent.tone = nil
    let run = try MomentRun(front: silent.write(), back: Self.back.write())
    #expect(try #require(try run.video(.composed).audio()).strength(of: 1000) > 0.3)
    var mute = Self.back
    mute.tone = nil
    let silentRun = try MomentRun(front: silent.write(), back: mute.write())
    #expect(silentRun.isAccepted)
    #expect(try silentRun.video(.composed).stream(.audio) == nil)
    try Self.expectMarks(silentRun, inside: .red, outside: .blue, frames: 150)
  }

  @Test("a second run writes the same bytes")
  func sameBytes() throws {
    let (front, back) = (try Self.front.write(), try Self.back.write())
    let (first, second) = (
      try MomentRun(front: front, back: back), try MomentRun(front: front, back: back)
    )
    #expect(first.report == second.report)
    for role in try #require(first.plan).outputs {
      #expect(try first.bytes(role) == second.bytes(role), "\(role.rawValue)")
    }
  }

  @Test(
    "the composed video ends with the shorter clip", arguments: [(4.6, 5.0, 138), (5.4, 5.4, 151), (4.5, 4.5, 135)])
  func length(front: Double, back: Double, frames: Int) throws {
    let run = try MomentRun(
      front: MarkedClip(.red, seconds: front, tone: .init(440)).write(),
      back: MarkedClip(.blue, seconds: back, tone: .init(1000)).write())
    #expect(run.isAccepted)
    try Self.expectMarks(run, inside: .red, outside: .blue, frames: frames)
    let audio = try #require(try run.video(.composed).audio())
    #expect(abs(Double(audio.samples.count) / 48_000 - Double(frames) / 30) < 0.05)
  }
}
