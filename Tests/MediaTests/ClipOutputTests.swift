import AV
import Kernels
import Media
import MediaFixtures
import Model
import Platform
import Testing

@Suite("Clip outputs", .tags(.media))
struct ClipOutputTests {
  /// The frame counters of a video whose frames are coded upright.
  static func numbers(_ video: DecodedClip) throws -> [Int?] {
    var numbers: [Int?] = []
    try video.forEachFrame { frame, _ in numbers.append(CounterBlocks.read(frame)) }
    return numbers
  }

  @Test("a clip that fits is copied frame by frame, with its audio", arguments: [false, true])
  func remux(isReordered: Bool) throws {
    var front = MarkedClip(.red, tone: .init(440))
    front.isReordered = isReordered
    let run = try MomentRun(front: front.write(), back: MarkedClip(.blue, tone: .init(1000)).write())
    #expect(run.plan?.clips.map(\.mode) == [.remux, .remux])
    for (role, tone) in [(Role.clipFront, 440.0), (.clipBack, 1000)] {
      let clip = try run.video(role)
      #expect(try Self.numbers(clip) == Array(0..<150))
      let audio = try #require(try clip.audio())
      #expect(audio.strength(of: tone) > 0.3)
      #expect(abs(Double(audio.samples.count) / 48_000 - 5) < 0.03)
      #expect(try #require(clip.stream(.video)?.start) == 0)
      let boxes = TopLevelBoxes(try run.bytes(role)).names
      #expect(try #require(boxes.firstIndex(of: "moov")) < #require(boxes.firstIndex(of: "mdat")))
    }
  }

  @Test("a copied clip keeps its display matrix")
  func remuxTurned() throws {
    let run = try MomentRun(
      front: MarkedClip(.red, rotation: .quarter).write(),
      back: MarkedClip(.blue, rotation: .mirroredThreeQuarters).write())
    #expect(try run.video(.clipFront).stream(.video)?.displayMatrix == CodedRotation.quarter.displayMatrix)
    #expect(try run.video(.clipBack).stream(.video)?.displayMatrix == CodedRotation.mirroredThreeQuarters.displayMatrix)
    let facts = try #require(run.facts(.clipFront))
    #expect(facts.width == 270 && facts.height == 480)
  }

  @Test("a clip that does not fit is encoded upright as H.264", arguments: [MarkedClip.Codec.hevc, .hevc10])
  func encode(codec: MarkedClip.Codec) throws {
    let run = try MomentRun(
      front: MarkedClip(.red, codec: codec, tone: .init(440), rotation: .quarter).write(),
      back: MarkedClip(.blue, tone: .init(1000)).write())
    #expect(run.plan?.clips.map(\.mode) == [.encode, .remux])
    let clip = try run.video(.clipFront)
    let stream = try #require(clip.stream(.video))
    #expect(stream.codec == "h264" && stream.width == 270 && stream.height == 480 && stream.displayMatrix == nil)
    #expect(try Self.numbers(clip) == Array(0..<150))
    try CompositionTests.expectMarks(run, inside: .red, outside: .blue, frames: 150)
  }

  @Test("surround audio is encoded as stereo AAC")
  func surround() throws {
    let run = try MomentRun(
      front: MarkedClip(.red, tone: .init(440, sampleRate: 44_100, channels: 6)).write(),
      back: MarkedClip(.blue).write())
    #expect(run.plan?.composition?.audio?.mode == .encode)
    for role in [Role.composed, .clipFront] {
      let video = try run.video(role)
      let stream = try #require(video.stream(.audio))
      #expect(stream.codec == "aac" && stream.sampleRate == 48_000 && stream.channels == 2)
      let audio = try #require(try video.audio())
      #expect(audio.strength(of: 440) > 0.1)
      #expect(abs(Double(audio.samples.count) / 48_000 - 5) < 0.05)
    }
  }

  @Test("the priming of the audio encoder is not audible")
  func priming() throws {
    let run = try MomentRun(
      front: MarkedClip(.red, tone: .init(440)).write(), back: MarkedClip(.blue).write())
    for role in [Role.composed, .clipFront] {
      let onset = try #require(try run.video(role).audio()?.onset())
      #expect(onset < 0.002, "\(role.rawValue) has its onset at \(onset) s")
    }
  }

  @Test("audio and video stay in sync, copied or encoded", arguments: [1, 2, 6])
  func synchronisation(channels: Int) throws {
    let front = MarkedClip(.red, tone: .init(440, channels: channels, delay: 0.5))
    let run = try MomentRun(front: front.write(), back: MarkedClip(.blue).write())
    #expect(run.plan?.composition?.audio?.mode == (channels == 6 ? .encode : .copy))
    for role in [Role.composed, .clipFront] {
      let onset = try #require(try run.video(role).audio()?.onset())
      #expect(abs(onset - 0.5) < 0.022, "\(role.rawValue) has its onset at \(onset) s")
    }
  }
}

@Suite("Stills", .tags(.media))
struct StillTests {
  private static func still(of clip: MarkedClip, at seconds: Double, longEdge: Int? = nil) throws -> (
    StillImage, OutputFacts
  ) {
    let definition = try MomentRun.definition()
    let file = try clip.write()
    let facts = try Prober(limits: definition.limits).probe(file, as: .clip).get()
    let plan = Planner(definition).plan(stillOf: facts, at: seconds, longEdge: longEdge, quality: 90)
    let output = try TemporaryFile.make()
    let report = try PlanRunner(plan, inputs: [.clip: file], outputs: [.image: output]).run()
    #expect(report.verdict.reasons == [])
    return (try StillImage(TemporaryFile.bytes(of: output)), try #require(report.outputs.first))
  }

  @Test(
    "a still shows the frame at its time, past the end of the clip the last one",
    arguments: [(0.0, 0), (0.99, 29), (1.0, 30), (6.5, 195), (100, 239)])
  func time(seconds: Double, number: Int) throws {
    let (image, facts) = try Self.still(of: MarkedClip(.green, seconds: 8), at: seconds)
    #expect(image.counter == number)
    #expect(image.color(atX: 0.5, y: 0.2) == .green)
    #expect(facts.type == "image/jpeg" && facts.width == 270 && facts.height == 480)
    #expect(try #require(facts.thumbhash).count >= 24)
  }

  @Test("a still is scaled down to its limit and never enlarged")
  func size() throws {
    let (small, _) = try Self.still(of: MarkedClip(.green, seconds: 1), at: 0, longEdge: 240)
    #expect(small.width == 136 && small.height == 240)
    let (full, _) = try Self.still(of: MarkedClip(.green, seconds: 1), at: 0, longEdge: 4000)
    #expect(full.width == 270 && full.height == 480)
  }
}
