import AV
import Definitions
import Kernels
import MediaFixtures
import Model
import Platform
import SeededRandom
import Testing

@testable import Media

@Suite("The rate of encoded video", .tags(.media))
struct RateTests {
  /// What is hard to encode: each frame differs from the one before.
  enum Content {
    case noise, confetti, rain, grain
    /// Not hard.
    case camera

    static let hard = [noise, confetti, rain, grain]

    func draw(_ frame: borrowing Frame, _ random: inout SplitMix64) {
      for index in 0..<3 {
        guard let plane = frame.plane(index) else { continue }
        let (width, height) = index == 0 ? (frame.width, frame.height) : (frame.width / 2, frame.height / 2)
        for row in 0..<height {
          let line = UnsafeMutableRawBufferPointer(start: plane.base + row * plane.stride, count: width)
          draw(
            line, row: row, isLuma: index == 0, above: row > 0 ? plane.base + (row - 1) * plane.stride : nil, &random)
        }
      }
    }

    private func draw(
      _ line: UnsafeMutableRawBufferPointer, row: Int, isLuma: Bool, above: UnsafeMutableRawPointer?,
      _ random: inout SplitMix64
    ) {
      for start in stride(from: 0, to: line.count - 7, by: 8) {
        let bits = random.next()
        let value: UInt64 =
          switch self {
          case .noise: bits
          // Pieces of paper of 4x2 pixels.
          case .confetti where row % 2 == 1 && above != nil:
            above?.loadUnaligned(fromByteOffset: start, as: UInt64.self) ?? 0
          case .confetti: (bits & 0xFF) &* 0x0101_0101 | ((bits >> 8) & 0xFF) &* 0x0101_0101_0000_0000
          // Bright drops one pixel wide and some rows high.
          case .rain where isLuma:
            row % 12 > 0 && above != nil
              ? above?.loadUnaligned(fromByteOffset: start, as: UInt64.self) ?? 0
              : 0x4040_4040_4040_4040 | (bits & 0x8000_0080_0080_0080)
          case .rain: 0x8080_8080_8080_8080
          case .grain where isLuma:
            UInt64(40 + row / 16 % 120) &* 0x0101_0101_0101_0101 &+ (bits & 0x3F3F_3F3F_3F3F_3F3F)
          case .camera:
            (isLuma ? UInt64(60 + row / 8 % 120) : 110) &* 0x0101_0101_0101_0101 &+ (bits & 0x0303_0303_0303_0303)
          case .grain: 0x7070_7070_7070_7070 &+ (bits & 0x1F1F_1F1F_1F1F_1F1F)
          }
        line.storeBytes(of: value, toByteOffset: start, as: UInt64.self)
      }
    }
  }

  static func encode(
    _ video: Definition.VideoEncoding, size: Size, frames: Int, draw: (borrowing Frame, Int) -> Void
  ) throws -> OpenFile {
    let file = try TemporaryFile.make()
    let container = try ContainerWriter(.composed, file: file)
    let track = try VideoTrack(video, size: size, grid: TimeGrid(rate: 30), container: container)
    try container.start()
    let frame = try Frame(width: size.width, height: size.height, format: .yuv420p)
    for number in 0..<frames {
      try frame.makeWritable()
      draw(frame, number)
      try track.encode(frame)
    }
    try track.finish()
    _ = try container.finish(size: size, seconds: Double(frames) / 30)
    return file
  }

  private static let canvas = Size(width: 1080, height: 1920)

  private static func builtIn() throws -> Definition.VideoEncoding {
    try #require(try Definitions.take5Post().outputs[.composed]?.composed?.video)
  }

  @Test("is one that each decoder of the stream's level can play, whatever is filmed", arguments: Content.hard)
  func hard(content: Content) throws {
    var random = SplitMix64(seed: 5)
    let file = try Self.encode(Self.builtIn(), size: Self.canvas, frames: 24) { frame, _ in
      content.draw(frame, &random)
    }
    let stream = try CodedStream(file)
    #expect(stream.level <= 40)
    #expect(stream.emptiest >= 0, "\(stream.sizes.map { $0 / 8 }) bytes at level \(stream.level)")
  }

  @Test("without the limit would be more than decoders can play, by the same measure")
  func unlimited() throws {
    var video = try Self.builtIn()
    video.x264["vbv-bufsize"] = nil
    video.x264["vbv-maxrate"] = nil
    var random = SplitMix64(seed: 5)
    let stream = try CodedStream(
      Self.encode(video, size: Self.canvas, frames: 10) { frame, _ in Content.noise.draw(frame, &random) })
    #expect(stream.emptiest < 0)
  }

  @Test("follows the content where the limit is far: not a byte differs")
  func ordinary() throws {
    var unlimited = try Self.builtIn()
    unlimited.x264["vbv-bufsize"] = nil
    unlimited.x264["vbv-maxrate"] = nil
    // Whole words of eight pixels, so that all are drawn.
    let size = Size(width: 544, height: 960)
    let sizes = try [Self.builtIn(), unlimited].map { video in
      var random = SplitMix64(seed: 3)
      return try CodedStream(
        Self.encode(video, size: size, frames: 40) { frame, number in
          // A bright square that moves over a picture with the noise of a camera.
          let planes = frame.imagePlanes
          Content.camera.draw(frame, &random)
          planes.region(x: 16 * (number % 20), y: 24 * (number % 20), width: 128, height: 128).fill(
            y: 200, u: 90, v: 160)
        }
      ).sizes
    }
    // The first frame comes with the encoder's parameters.
    #expect(sizes[0].dropFirst() == sizes[1].dropFirst())
  }

  @Test("is limited in every built-in definition")
  func definitions() throws {
    let limited = try Self.builtIn()
    for definition in [try Definitions.take5Post(), try Definitions.markerVideo()] {
      for role in definition.outputs.roles {
        let video = definition.outputs[role]?.composed?.video ?? definition.outputs[role]?.clip?.video
        #expect(video == nil || video?.x264 == limited.x264, "\(definition.name) \(role.rawValue)")
      }
    }
  }
}

/// The coded frames of a file, against the buffer of a decoder (ITU-T H.264, annex C and table A-1).
private struct CodedStream {
  /// Ten times the level.
  let level: Int
  /// The bits of each frame, in decoding order.
  let sizes: [Int]
  /// The bits that the buffer holds when it is emptiest; negative where a frame comes too late.
  let emptiest: Int

  /// By level: the largest rate in kbit/s, and the largest buffer in kbit, of the Main profile.
  private static let limits = [
    10: (64, 175), 11: (192, 500), 12: (384, 1000), 13: (768, 2000), 20: (2000, 2000), 21: (4000, 4000),
    22: (4000, 4000), 30: (10_000, 10_000), 31: (14_000, 14_000), 32: (20_000, 20_000), 40: (20_000, 25_000),
    41: (50_000, 62_500), 42: (50_000, 62_500), 50: (135_000, 135_000), 51: (240_000, 240_000),
  ]

  init(_ file: OpenFile) throws {
    let demuxer = try Demuxer(
      reading: file, limits: DemuxerLimits(streams: 1, codecs: ["h264"]), interrupt: Interrupt())
    let configuration = demuxer.streams[0].configuration
    // The content of `avcC` begins with the version, the profile and the level (ISO/IEC 14496-15, 5.3.3.1).
    try #require(configuration.count > 4 && configuration[1] == 100, "the profile is not High")
    level = Int(configuration[3])
    let limits = try #require(Self.limits[level])
    let packet = try Packet()
    var sizes: [Int] = []
    while try demuxer.read(into: packet) { sizes.append(8 * packet.size) }
    self.sizes = sizes
    // High has 1.25 times the bits of Main.
    let (rate, buffer) = (1250 * limits.0, 1250 * limits.1)
    var fullness = buffer
    var emptiest = buffer
    for size in sizes {
      fullness -= size
      emptiest = min(emptiest, fullness)
      fullness = min(buffer, fullness + rate / 30)
    }
    self.emptiest = emptiest
  }
}
