/// A level of H.264: what a decoder that has it decodes at most (ITU-T H.264, table A-1).
package struct AVCLevel {
  /// Its name as a number: 4.2.
  let name: Double
  /// Macroblocks in a second, and in a frame.
  let rate: Double
  let frame: Int
  /// The bit rate of Baseline, Main and Extended, in thousands of bits per second; High has a quarter more.
  let kilobits: Int

  // Level 1b is 1.1 with fewer macroblocks: no clip of today is between them.
  private static let all: [AVCLevel] = [
    AVCLevel(name: 1, rate: 1485, frame: 99, kilobits: 64),
    AVCLevel(name: 1.1, rate: 3000, frame: 396, kilobits: 192),
    AVCLevel(name: 1.2, rate: 6000, frame: 396, kilobits: 384),
    AVCLevel(name: 1.3, rate: 11_880, frame: 396, kilobits: 768),
    AVCLevel(name: 2, rate: 11_880, frame: 396, kilobits: 2000),
    AVCLevel(name: 2.1, rate: 19_800, frame: 792, kilobits: 4000),
    AVCLevel(name: 2.2, rate: 20_250, frame: 1620, kilobits: 4000),
    AVCLevel(name: 3, rate: 40_500, frame: 1620, kilobits: 10_000),
    AVCLevel(name: 3.1, rate: 108_000, frame: 3600, kilobits: 14_000),
    AVCLevel(name: 3.2, rate: 216_000, frame: 5120, kilobits: 20_000),
    AVCLevel(name: 4, rate: 245_760, frame: 8192, kilobits: 20_000),
    AVCLevel(name: 4.1, rate: 245_760, frame: 8192, kilobits: 50_000),
    AVCLevel(name: 4.2, rate: 522_240, frame: 8704, kilobits: 50_000),
    AVCLevel(name: 5, rate: 589_824, frame: 22_080, kilobits: 135_000),
    AVCLevel(name: 5.1, rate: 983_040, frame: 36_864, kilobits: 240_000),
    AVCLevel(name: 5.2, rate: 2_073_600, frame: 36_864, kilobits: 240_000),
    AVCLevel(name: 6, rate: 4_177_920, frame: 139_264, kilobits: 240_000),
    AVCLevel(name: 6.1, rate: 8_355_840, frame: 139_264, kilobits: 480_000),
    AVCLevel(name: 6.2, rate: 16_711_680, frame: 139_264, kilobits: 800_000),
  ]
  // The profiles to which the bit rates of the table apply (A.3.1); the others have a quarter more, or even more (table A-2).
  private static let plainProfiles: Set<Int> = [66, 77, 88]

  /// The name of the lowest level that allows a stream, whatever its parameter sets say; 6.2, the highest, if none does.
  ///
  /// - Parameters:
  ///   - macroblocks: the size of a coded frame, each side at most 1,024.
  ///   - framesPerSecond: the most frames in a second.
  ///   - bitsPerSecond: the mean bit rate.
  ///   - profile: the number of the profile.
  package static func lowest(
    for macroblocks: Size, framesPerSecond: Double, bitsPerSecond: Int, profile: Int
  ) -> Double {
    let count = macroblocks.width * macroblocks.height
    let longest = max(macroblocks.width, macroblocks.height)
    let bits = plainProfiles.contains(profile) ? 1000 : 1250
    let level = all.first { level in
      // A frame is at most eight times as long as it is high (A.3.1, f and g).
      count <= level.frame && longest * longest <= 8 * level.frame && Double(count) * framesPerSecond <= level.rate
        && bitsPerSecond <= level.kilobits * bits
    }
    return level?.name ?? 6.2
  }

  /// A size, scaled down until a level allows a frame of it.
  package static func fitted(_ size: Size, to level: Double) -> Size {
    guard let frame = all.last(where: { $0.name <= level })?.frame else { return size }
    var (fitted, edge) = (size, max(size.width, size.height))
    while macroblocks(fitted) > frame, edge > 16 {
      edge -= 16
      fitted = size.fitted(longEdge: edge)
    }
    return fitted
  }

  private static func macroblocks(_ size: Size) -> Int { ((size.width + 15) / 16) * ((size.height + 15) / 16) }
}
