import Model

/// The size of the frames by a sequence parameter set of H.264 (ITU-T H.264, 7.3.2.1.1).
struct SequenceParameterSet: Hashable {
  /// The size of a frame after cropping, in samples.
  let size: Size
  /// Whether frames may be coded as two fields, or pairs of macroblocks of one field each.
  let allowsFields: Bool
  /// The number of the profile (A.2), and the number of the level, ten times its name: 42 is level 4.2.
  let profile: Int
  let level: Int
  /// The size of a coded frame in macroblocks.
  let macroblocks: Size

  // The profiles whose sets begin with the chroma format.
  private static let highProfiles: Set<Int> = [44, 83, 86, 100, 110, 118, 122, 128, 134, 135, 138, 139, 244]
  // 16384 samples, more than any level allows.
  private static let maxMacroblocks = 1024

  /// Parses a NAL unit; nil if it is damaged.
  init?(_ unit: [UInt8]) {
    var reader = BitReader(unit.dropFirst())
    profile = reader.bits(8)
    _ = reader.bits(8)
    level = reader.bits(8)
    _ = reader.golomb()
    let chroma = Self.highProfiles.contains(profile) ? Self.chromaFormat(&reader) : 1
    // The length of frame numbers, and how the order of frames is coded.
    _ = reader.golomb()
    switch reader.golomb() {
    case 0: _ = reader.golomb()
    case 1:
      _ = reader.bits(1)
      _ = reader.golomb()
      _ = reader.golomb()
      for _ in 0..<min(reader.golomb(), 255) { _ = reader.golomb() }
    default: break
    }
    _ = reader.golomb()
    _ = reader.bits(1)
    let (columns, rows) = (reader.golomb() + 1, reader.golomb() + 1)
    let fields = 2 - reader.bits(1)
    if fields == 2 { _ = reader.bits(1) }
    _ = reader.bits(1)
    let crops = reader.bits(1) == 1 ? (0..<4).map { _ in reader.golomb() } : [0, 0, 0, 0]
    guard !reader.isExhausted, max(columns, rows) <= Self.maxMacroblocks,
      crops.allSatisfy({ $0 <= 16 * Self.maxMacroblocks })
    else { return nil }
    let width = 16 * columns - (crops[0] + crops[1]) * (chroma == 1 || chroma == 2 ? 2 : 1)
    let height = 16 * rows * fields - (crops[2] + crops[3]) * (chroma == 1 ? 2 : 1) * fields
    guard width > 0, height > 0 else { return nil }
    size = Size(width: width, height: height)
    macroblocks = Size(width: columns, height: rows * fields)
    allowsFields = fields == 2
  }

  /// Reads the chroma format, and skips the bit depths and the scaling matrix.
  private static func chromaFormat(_ reader: inout BitReader) -> Int {
    let chroma = reader.golomb()
    if chroma == 3 { _ = reader.bits(1) }
    _ = reader.golomb()
    _ = reader.golomb()
    _ = reader.bits(1)
    guard reader.bits(1) == 1 else { return chroma }
    for list in 0..<(chroma == 3 ? 12 : 8) where reader.bits(1) == 1 {
      var (last, next) = (8, 8)
      for _ in 0..<(list < 6 ? 16 : 64) {
        if next != 0 { next = (last + reader.signedGolomb()) & 0xFF }
        if next != 0 { last = next }
      }
    }
    return chroma
  }
}

/// Reads the bits of a NAL unit; zeros after its end.
private struct BitReader {
  private let bytes: [UInt8]
  private var position = 0
  /// Whether more was read than there is.
  private(set) var isExhausted = false

  /// - Parameter unit: without its header, with the bytes that prevent start codes (7.4.1), which are left out.
  init(_ unit: ArraySlice<UInt8>) {
    var bytes: [UInt8] = []
    var zeros = 0
    for byte in unit {
      if zeros < 2 || byte != 3 { bytes.append(byte) }
      zeros = byte == 0 ? zeros + 1 : 0
    }
    self.bytes = bytes
  }

  mutating func bits(_ count: Int) -> Int {
    var value = 0
    for _ in 0..<count {
      guard position < 8 * bytes.count else {
        isExhausted = true
        return 0
      }
      value = value << 1 | Int(bytes[position / 8] >> UInt8(7 - position % 8) & 1)
      position += 1
    }
    return value
  }

  /// An Exp-Golomb code, ue(v) (9.1).
  mutating func golomb() -> Int {
    var zeros = 0
    while !isExhausted, bits(1) == 0 { zeros += 1 }
    guard zeros < 32 else {
      isExhausted = true
      return 0
    }
    return 1 << zeros - 1 + bits(zeros)
  }

  /// A signed Exp-Golomb code, se(v) (9.1.1).
  mutating func signedGolomb() -> Int {
    let code = golomb()
    return code % 2 == 1 ? (code + 1) / 2 : -(code / 2)
  }
}
