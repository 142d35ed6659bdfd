import AV
import Kernels
import MediaFixtures
import Model
import Testing

@Suite("A playable clip", .tags(.media))
struct ClipOutputTests {
  /// The counters of a video whose pictures are coded upright.
  static func numbers(_ video: DecodedClip) throws -> [Int?] {
    var numbers: [Int?] = []
    try video.forEachPicture { picture, _ in numbers.append(CounterBlocks.read(picture)) }
    return numbers
  }

  @Test("is copied picture by picture and keeps its sound where it already fits", arguments: [false, true])
  func remux(isReordered: Bool) throws {
    var front = MarkedClip(.red, tone: .init(440))
    front.isReordered = isReordered
    let run = try MomentRun(front: front.write(), back: MarkedClip(.blue, tone: .init(1000)).write())
    #expect(run.plan?.clips.map(\.mode) == [.remux, .remux])
    for (role, tone) in [(Role.clipFront, 440.0), (.clipBack, 1000)] {
      let clip = try run.video(role)
      #expect(try Self.numbers(clip) == Array(0..<150))
      let sound = try #require(try clip.sound())
      #expect(sound.strength(of: tone) > 0.3)
      #expect(abs(Double(sound.samples.count) / 48_000 - 5) < 0.03)
      #expect(try #require(clip.stream(.video)?.start) == 0)
      let boxes = TopLevelBoxes(try run.bytes(role)).names
      #expect(try #require(boxes.firstIndex(of: "moov")) < #require(boxes.firstIndex(of: "mdat")))
    }
  }

  @Test("keeps its display matrix when it is copied")
  func remuxTurned() throws {
    let run = try MomentRun(
      front: MarkedClip(.red, turn: .quarter).write(), back: MarkedClip(.blue, turn: .mirroredThreeQuarters).write())
    #expect(try run.video(.clipFront).stream(.video)?.displayMatrix == CodedTurn.quarter.displayMatrix)
    #expect(try run.video(.clipBack).stream(.video)?.displayMatrix == CodedTurn.mirroredThreeQuarters.displayMatrix)
    let facts = try #require(run.facts(.clipFront))
    #expect(facts.width == 270 && facts.height == 480)
  }

  @Test("is encoded upright as H.264 where it does not fit", arguments: [MarkedClip.Codec.hevc, .hevc10])
  func encode(codec: MarkedClip.Codec) throws {
    let run = try MomentRun(
      front: MarkedClip(.red, codec: codec, tone: .init(440), turn: .quarter).write(),
      back: MarkedClip(.blue, tone: .init(1000)).write())
    #expect(run.plan?.clips.map(\.mode) == [.encode, .remux])
    let clip = try run.video(.clipFront)
    let stream = try #require(clip.stream(.video))
    #expect(stream.codec == "h264" && stream.width == 270 && stream.height == 480 && stream.displayMatrix == nil)
    #expect(try Self.numbers(clip) == Array(0..<150))
    try CompositionTests.expectMarks(run, inside: .red, outside: .blue, pictures: 150)
  }

  @Test("has its sound decoded and encoded where copying is not safe")
  func surround() throws {
    let run = try MomentRun(
      front: MarkedClip(.red, tone: .init(440, sampleRate: 44_100, channels: 6)).write(),
      back: MarkedClip(.blue).write())
    #expect(run.plan?.composition?.audio?.mode == .encode)
    for role in [Role.composed, .clipFront] {
      let video = try run.video(role)
      let stream = try #require(video.stream(.audio))
      #expect(stream.codec == "aac" && stream.sampleRate == 48_000 && stream.channels == 2)
      let sound = try #require(try video.sound())
      #expect(sound.strength(of: 440) > 0.1)
      #expect(abs(Double(sound.samples.count) / 48_000 - 5) < 0.05)
    }
  }

  @Test("is heard from its first sample on, without the silence that encoders put in front")
  func priming() throws {
    let run = try MomentRun(
      front: MarkedClip(.red, tone: .init(440)).write(), back: MarkedClip(.blue).write())
    for role in [Role.composed, .clipFront] {
      let onset = try #require(try run.video(role).sound()?.onset())
      #expect(onset < 0.002, "\(role.rawValue) is heard from \(onset) s on")
    }
  }

  @Test("keeps sound and picture together, copied or encoded", arguments: [1, 2, 6])
  func synchronisation(channels: Int) throws {
    let front = MarkedClip(.red, tone: .init(440, channels: channels, delay: 0.5))
    let run = try MomentRun(front: front.write(), back: MarkedClip(.blue).write())
    #expect(run.plan?.composition?.audio?.mode == (channels == 6 ? .encode : .copy))
    for role in [Role.composed, .clipFront] {
      let onset = try #require(try run.video(role).sound()?.onset())
      #expect(abs(onset - 0.5) < 0.022, "\(role.rawValue) is heard from \(onset) s on")
    }
  }
}
