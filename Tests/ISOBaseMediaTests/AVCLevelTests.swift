import ISOBaseMedia
import Model
import Testing

@Suite("Levels of H.264")
struct AVCLevelTests {
  static let streams: [(width: Int, height: Int, rate: Double, bits: Int, profile: Int, level: Double)] = [
    (11, 9, 15, 64_000, 66, 1), (11, 9, 15, 64_001, 66, 1.1), (11, 9, 16, 64_000, 66, 1.1),
    (80, 45, 30, 10_000_000, 100, 3.1), (80, 45, 31, 10_000_000, 100, 3.2), (80, 45, 30, 18_000_000, 100, 3.2),
    // 1080p: 30, 60, 64 and 65 frames in a second, on both sides of the bit rates of the profiles.
    (120, 68, 30, 9_000_000, 100, 4), (120, 68, 30, 25_000_000, 100, 4), (120, 68, 30, 25_000_001, 100, 4.1),
    (120, 68, 60, 9_000_000, 100, 4.2), (120, 68, 64, 9_000_000, 100, 4.2), (120, 68, 65, 9_000_000, 100, 5),
    (120, 68, 30, 62_500_000, 100, 4.1), (120, 68, 30, 62_500_001, 100, 5),
    (120, 68, 30, 50_000_000, 77, 4.1), (120, 68, 30, 50_000_001, 77, 5),
    (68, 120, 60, 9_000_000, 66, 4.2), (45, 80, 240, 9_000_000, 100, 5.1), (120, 68, 240, 9_000_000, 100, 5.2),
    // 3072x3072, 7680x1200 and 4K.
    (192, 192, 30, 72_000_000, 100, 5.2), (480, 75, 25, 40_000_000, 100, 5.1), (240, 135, 30, 40_000_000, 100, 5.1),
    // A frame that is longer than the area of its level allows.
    (263, 2, 1, 1000, 100, 4.2), (264, 2, 1, 1000, 100, 5),
    (1024, 1024, 1000, 1_000_000_000_000, 100, 6.2),
  ]

  @Test("the lowest level follows table A-1, by frame, rate and bits", arguments: streams.indices)
  func lowest(index: Int) {
    let stream = Self.streams[index]
    let level = AVCLevel.lowest(
      for: Size(width: stream.width, height: stream.height), framesPerSecond: stream.rate, bitsPerSecond: stream.bits,
      profile: stream.profile)
    #expect(level == stream.level)
  }

  /// A set of 1280x720 with the profile and the level, without a description of its use.
  private static func set(profile: UInt8, level: UInt8) -> [UInt8] {
    // ue(v): id 0; of High chroma 1, depths 0 and 0, no matrix; frame numbers 0, order 2, no references; 80 x 45, frames, no crop.
    let high = profile == 100 ? "1" + "010" + "1" + "1" + "0" + "0" : "1"
    var bits = high + "1" + "011" + "1" + "0" + "0000001010000" + "00000101101" + "1" + "1" + "0" + "0" + "1"
    while bits.utf8.count % 8 != 0 { bits += "0" }
    let text = Array(bits)
    let bytes = stride(from: 0, to: text.count, by: 8).map { UInt8(String(text[$0..<$0 + 8]), radix: 2) ?? 0 }
    return [0x67, profile, 0, level] + bytes
  }

  private static func configuration(_ sets: [[UInt8]]) -> AVCConfiguration? {
    var bytes: [UInt8] = [1] + sets[0][1...3]
    bytes += [0xFF, 0xE0 | UInt8(sets.count)]
    for set in sets {
      bytes += [0, UInt8(set.count)]
      bytes += set
    }
    bytes += [1, 0, 2, 0x68, 0xEB]
    return AVCConfiguration(bytes)
  }

  @Test(
    "the demand of a configuration is the greater one of the level that it names and of what it has",
    arguments: [(100, 31, 30.0, 3.1), (100, 51, 30, 5.1), (100, 10, 30, 3.1), (66, 31, 240, 5.1)]
      as [(
        UInt8, UInt8, Double, Double
      )])
  func demand(profile: UInt8, level: UInt8, rate: Double, expected: Double) throws {
    let configuration = try #require(Self.configuration([Self.set(profile: profile, level: level)]))
    let demand = try #require(configuration.demand(framesPerSecond: rate, bitsPerSecond: 1_000_000))
    #expect(demand == DecoderDemand(profile: Int(profile), level: expected, bitsPerSecond: 1_000_000))
  }

  @Test("the demand of several parameter sets is the greatest; sets of several profiles, and damaged ones, have none")
  func several() throws {
    let (low, high) = (Self.set(profile: 100, level: 31), Self.set(profile: 100, level: 52))
    let both = try #require(Self.configuration([low, high]))
    #expect(both.demand(framesPerSecond: 30, bitsPerSecond: 1)?.level == 5.2)
    let mixed = try #require(Self.configuration([low, Self.set(profile: 66, level: 31)]))
    #expect(mixed.demand(framesPerSecond: 30, bitsPerSecond: 1) == nil)
    let cut = try #require(Self.configuration([Array(low.prefix(6))]))
    #expect(cut.demand(framesPerSecond: 30, bitsPerSecond: 1) == nil)
  }

  @Test(
    "a size is scaled down to what a level allows, in its shape",
    arguments: [
      (1080, 1920, 4.2, 1080, 1920), (1440, 1920, 4.2, 1284, 1712), (1920, 1440, 4.2, 1712, 1284),
      (1920, 1920, 4.2, 1488, 1488), (1440, 1920, 5, 1440, 1920), (1080, 1920, 3.1, 720, 1280), (640, 480, 1, 176, 132),
      (64, 64, 0.5, 64, 64),
    ])
  func fitted(width: Int, height: Int, level: Double, fittedWidth: Int, fittedHeight: Int) {
    let size = AVCLevel.fitted(Size(width: width, height: height), to: level)
    #expect(size == Size(width: fittedWidth, height: fittedHeight))
  }
}
