/// How a decoder of H.264 is configured: the content of an `avcC` box (ISO/IEC 14496-15, 5.3.3.1).
package struct AVCConfiguration: Hashable, Sendable {
  /// The bytes of the length in front of each NAL unit of a sample: 1, 2 or 4.
  package let lengthBytes: Int
  /// NAL units, as they are.
  package let sequenceParameterSets: [[UInt8]]
  package let pictureParameterSets: [[UInt8]]
  /// What profiles from High on add: chroma format, bit depths, extended sequence parameter sets.
  private let highProfile: [UInt8]

  // The profiles without anything behind the picture parameter sets: Baseline, Main, Extended.
  private static let shortProfiles: Set<UInt8> = [66, 77, 88]
  // 4:2:0 in 8 bits, no extended sequence parameter sets; reserved bits are ones.
  private static let chroma420: [UInt8] = [0xFD, 0xF8, 0xF8, 0]

  /// Reads the content of the box; nil where a strict decoder would refuse it.
  package init?(_ bytes: [UInt8]) {
    var reader = ByteCursor(bytes[...])
    guard reader.byte() == 1, let profile = reader.byte(), let compatibility = reader.byte(), let level = reader.byte(),
      let lengths = reader.byte(), lengths & 3 != 2, let sequences = reader.byte(),
      let sequenceSets = Self.sets(Int(sequences & 0x1F), of: .sequenceParameterSet, &reader),
      let pictures = reader.byte(), let pictureSets = Self.sets(Int(pictures), of: .pictureParameterSet, &reader),
      let first = sequenceSets.first, !pictureSets.isEmpty,
      first.dropFirst().starts(with: [profile, compatibility, level])
    else { return nil }
    lengthBytes = Int(lengths & 3) + 1
    sequenceParameterSets = sequenceSets
    pictureParameterSets = pictureSets
    if Self.shortProfiles.contains(profile) {
      highProfile = []
    } else {
      highProfile = reader.rest.isEmpty ? Self.chroma420 : Array(reader.rest)
    }
  }

  /// The content of a box with the same parameter sets for samples whose lengths have four bytes.
  package var bytesForLengthsOf4: [UInt8] {
    let head = sequenceParameterSets[0][1...3]
    return [1] + head + [0xFF, 0xE0 | UInt8(sequenceParameterSets.count)]
      + Self.joined(sequenceParameterSets) + [UInt8(pictureParameterSets.count)] + Self.joined(pictureParameterSets)
      + highProfile
  }

  /// Whether a parameter set is one of these.
  package func contains(_ unit: UnsafeRawBufferPointer) -> Bool {
    (sequenceParameterSets + pictureParameterSets).contains { $0.elementsEqual(unit) }
  }

  private static func sets(_ count: Int, of type: AVCUnit.Kind, _ reader: inout ByteCursor) -> [[UInt8]]? {
    var sets: [[UInt8]] = []
    for _ in 0..<count {
      guard let length = reader.unsigned16(), let unit = reader.bytes(length), unit.count >= 2,
        AVCUnit.Kind(header: unit[unit.startIndex]) == type
      else { return nil }
      sets.append(Array(unit))
    }
    return sets
  }

  private static func joined(_ sets: [[UInt8]]) -> [UInt8] {
    sets.flatMap { [UInt8(truncatingIfNeeded: $0.count >> 8), UInt8(truncatingIfNeeded: $0.count)] + $0 }
  }
}

/// Reads bytes from front to back; nil behind the end.
private struct ByteCursor {
  private(set) var rest: ArraySlice<UInt8>

  init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

  mutating func byte() -> UInt8? { rest.popFirst() }

  mutating func unsigned16() -> Int? {
    guard let high = byte(), let low = byte() else { return nil }
    return Int(high) << 8 | Int(low)
  }

  mutating func bytes(_ count: Int) -> ArraySlice<UInt8>? {
    guard rest.count >= count else { return nil }
    defer { rest = rest.dropFirst(count) }
    return rest.prefix(count)
  }
}
