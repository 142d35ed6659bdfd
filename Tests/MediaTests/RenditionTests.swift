import AV
import Definitions
import Kernels
import MediaFixtures
import Model
import Platform
import SeededRandom
import Testing

@testable import Media

@Suite("The small rendition", .tags(.media))
struct RenditionTests {
  static let kinds: [(String, MarkedClip, MarkedClip)] = [
    ("upright", MarkedClip(.red, tone: .init(440)), MarkedClip(.blue, tone: .init(1000))),
    (
      "rotated, another frame rate and sound",
      MarkedClip(.red, tone: .init(440, sampleRate: 44_100), rotation: .quarter),
      MarkedClip(.blue, width: 278, height: 482, framesPerSecond: 24, rotation: .mirroredThreeQuarters)
    ),
    (
      "high dynamic range", HighDynamicRangeTests.clip([64, 400, 570, 720], transfer: "arib-std-b67"), MarkedClip(.blue)
    ),
    ("ten bits, encoded sound", MarkedClip(.red, codec: .hevc10, tone: .init(440, channels: 6)), MarkedClip(.blue)),
    ("sixty frames, no sound", MarkedClip(.red, framesPerSecond: 60), MarkedClip(.blue, framesPerSecond: 29.97)),
    ("of another length", MarkedClip(.red, seconds: 4.7, tone: .init(440, delay: 0.4)), MarkedClip(.blue)),
  ]

  @Test("has the frames, the times and the sound of the composed video, which stays as it is", arguments: kinds.indices)
  func frames(index: Int) throws {
    let (name, front, back) = Self.kinds[index]
    // Twice the small size, and another ratio, which needs the scaler.
    for edge in [480, 400] {
      var definition = try MomentRun.definition(width: 540, height: 960)
      definition.outputs[.composedSmall]?.rendition?.longEdge = edge
      func made(_ roles: Set<Role>) throws -> MomentRun {
        try MomentRun(front: front.write(), back: back.write(), definition: definition, roles: roles)
      }
      let run = try made([.composedSmall])
      #expect(run.codes == [], "\(name)")
      if edge == 480 { #expect(try run.bytes(.composed) == made([.composed]).bytes(.composed), "\(name)") }
      let facts = try #require(run.facts(.composedSmall))
      #expect((facts.width, facts.height) == (edge == 480 ? 270 : 226, edge) && facts.type == "video/mp4")
      #expect(facts.duration == run.facts(.composed)?.duration)
      #expect(facts.bytes == Int64(try run.bytes(.composedSmall).count))
      let (small, composed) = (try run.video(.composedSmall), try run.video(.composed))
      let (found, expected) = (try Self.samples(small), try Self.samples(composed))
      #expect(found.map(\.seconds) == expected.map(\.seconds) && found.count >= 135, "\(name)")
      for (found, expected) in zip(found, expected) {
        let difference = zip(found.means, expected.means).map { abs($0 - $1) }.max() ?? 255
        #expect(difference < 6, "\(name) at \(found.seconds)")
      }
      #expect(
        try small.audio()?.samples == composed.audio()?.samples && small.audio()?.start == composed.audio()?.start)
      #expect(small.stream(.video)?.color == .bt709 && small.stream(.video)?.frameRate == Rational(30, 1))
      let boxes = TopLevelBoxes(try run.bytes(.composedSmall)).names
      #expect(try #require(boxes.firstIndex(of: "moov")) < #require(boxes.firstIndex(of: "mdat")))
    }
  }

  /// The time of each frame, and the means of each plane in six parts of it.
  private static func samples(_ clip: DecodedClip) throws -> [(seconds: Double, means: [Double])] {
    var samples: [(seconds: Double, means: [Double])] = []
    try clip.forEachFrame { frame, seconds in
      let means = [frame.y, frame.u, frame.v].flatMap { plane in
        (0..<6).map { part in
          let (width, height) = (plane.width / 2, plane.height / 3)
          var sum = 0
          for y in 0..<height {
            for x in 0..<width { sum += Int(plane[part % 2 * width + x, part / 2 * height + y]) }
          }
          return Double(sum) / Double(width * height)
        }
      }
      samples.append((seconds, means))
    }
    return samples
  }

  @Test("without it in the definition nothing of it is made")
  func without() throws {
    var definition = try MomentRun.definition()
    definition.outputs[.composedSmall] = nil
    let run = try MomentRun(front: MarkedClip(.red).write(), back: MarkedClip(.blue).write(), definition: definition)
    #expect(run.codes == [] && run.facts(.composedSmall) == nil && run.facts(.composed) != nil)
  }

  /// Of the link, in bits per second, and the longest wait before the first frame, in seconds.
  private static let (link, start) = (1.6e6, 0.5)

  @Test("arrives in time over 1.6 Mbit/s if nothing in it repeats, with the sound of a good phone")
  func noise() throws {
    func clip(_ color: MarkColor) throws -> OpenFile {
      var clip = MarkedClip(color, tone: .init(440))
      clip.isNoise = true
      clip.firstNumber = color == .red ? 0 : 60
      clip.tone?.room = (start: 0, seed: 7)
      clip.tone?.bitRate = 256_000
      return try clip.write()
    }
    let run = try MomentRun(
      front: clip(.red), back: clip(.blue), definition: MomentRun.definition(width: 1080, height: 1920))
    #expect(run.codes == [])
    let file = try TemporaryFile.make(run.bytes(.composedSmall))
    #expect(try Self.neededStart(of: file, over: Self.link) < Self.start)
    // The measure finds what is too much.
    #expect(try Self.neededStart(of: file, over: Self.link / 2) > Self.start)
    #expect(try Self.neededStart(of: TemporaryFile.make(run.bytes(.composed)), over: Self.link) > Self.start)
  }

  @Test("arrives in time whatever is filmed", arguments: RateTests.Content.hard)
  func hard(content: RateTests.Content) throws {
    let video = try #require(try Definitions.take5Post().outputs[.composedSmall]?.rendition?.video)
    var random = SplitMix64(seed: 5)
    let file = try RateTests.encode(video, size: Size(width: 540, height: 960), frames: 150) { frame, _ in
      content.draw(frame, &random)
    }
    // Sound and its index need the rest.
    #expect(try Self.neededStart(of: file, over: Self.link - 0.3e6) < Self.start, "\(content)")
  }

  /// The seconds from the first byte of a file that passes a link to the start of its playback, so that each sample
  /// comes before it is shown.
  private static func neededStart(of file: OpenFile, over bitsPerSecond: Double) throws -> Double {
    let demuxer = try Demuxer(
      reading: file, limits: DemuxerLimits(streams: 2, codecs: ["h264", "aac"]), interrupt: Interrupt())
    let packet = try Packet()
    var start = 0.0
    while try demuxer.read(into: packet) {
      let (offset, size) = (packet.byteOffset, Int64(packet.size))
      let end = try #require(offset) + size
      let due = demuxer.streams[packet.stream].timeBase.seconds(packet.dts ?? 0)
      start = max(start, Double(8 * end) / bitsPerSecond - max(0, due))
    }
    return start
  }
}
