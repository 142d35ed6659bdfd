import AV
import Kernels
import MediaFixtures
import Model
import Testing

@Suite("Edit lists", .tags(.media))
struct EditListTests {
  private static func clip(_ description: String) throws -> EditedClip {
    try #require(EditedClip.all.first { $0.description == description })
  }

  private static func run(_ clip: EditedClip) throws -> MomentRun {
    try MomentRun(front: TemporaryFile.make(clip.bytes()), back: MarkedClip(.blue).write(), foreground: .back)
  }

  @Test("every kind of edit list is composed, and the clip output passes the strict check", arguments: EditedClip.all)
  func composed(clip: EditedClip) throws {
    let run = try Self.run(clip)
    #expect(run.codes == [], "\(run.report.verdict.reasons)")
    let seconds = try #require(run.report.verdict.inputs[.front]?.decodedSeconds)
    #expect(abs(seconds - clip.seconds) < 0.1)
    for role in [Role.composed, .clipFront] {
      #expect(try CopiedClipTests.finding(run.bytes(role)) == nil, "\(role.rawValue)")
      #expect(abs(try run.video(role).duration - clip.seconds) < 0.15, "\(role.rawValue)")
    }
  }

  @Test("a clip that starts between sync frames is encoded from its first shown frame")
  func betweenSyncFrames() throws {
    let run = try Self.run(Self.clip("an edit that starts between sync frames"))
    #expect(run.plan?.clips.first?.mode == .encode)
    #expect(try ClipOutputTests.numbers(run.video(.clipFront)) == Array(15..<165))
    let start = try #require(try run.video(.clipFront).stream(.video)?.start)
    #expect(start == 0)
  }

  @Test("a clip that starts at a sync frame is copied from there")
  func atSyncFrame() throws {
    let run = try Self.run(Self.clip("an edit that starts at a sync frame"))
    #expect(run.plan?.clips.first?.mode == .remux, "\(run.choices(.clip))")
    #expect(try ClipOutputTests.numbers(run.video(.clipFront)) == Array(30..<180))
  }

  @Test("an edit that is longer than the media holds the last frame")
  func held() throws {
    let clip = EditedClip("2.1 s held to five", MarkedClip(.red, seconds: 2.1, tone: .init(440)), seconds: 5)
    let run = try Self.run(clip)
    #expect(run.codes == [])
    let video = try run.video(.clipFront)
    // The last frame is encoded again for the last two ticks.
    #expect(try ClipOutputTests.numbers(video) == Array(0..<63) + [62, 62])
    #expect(abs(try #require(video.stream(.video)?.seconds) - 5) < 0.04)
    #expect(abs(video.duration - 5) < 0.03)
  }

  @Test(
    "leading frames of an open GOP are left out, and the rest is complete",
    arguments: [MarkedClip.Codec.h264, .hevc])
  func openGOP(codec: MarkedClip.Codec) throws {
    var front = MarkedClip(.red, codec: codec)
    front.beginsWithOpenGOP = true
    let run = try MomentRun(front: front.write(), back: MarkedClip(.blue).write())
    #expect(run.codes == [])
    let numbers = try ClipOutputTests.numbers(run.video(.clipFront))
    #expect(numbers == Array(2..<150))
  }
}
