package import Model

/// The configuration of an H.264 decoder: the content of an `avcC` box (ISO/IEC 14496-15, 5.3.3.1).
package struct AVCConfiguration: Hashable, Sendable {
  /// The size of the length field of each NAL unit in a sample: 1, 2 or 4 bytes.
  package let lengthBytes: Int
  /// The NAL units of the sequence parameter sets.
  package let sequenceParameterSets: [[UInt8]]
  package let pictureParameterSets: [[UInt8]]
  /// The fields of the High profiles: chroma format, bit depths, extended sequence parameter sets.
  private let highProfile: [UInt8]

  // The profiles without fields after the picture parameter sets: Baseline, Main, Extended.
  private static let shortProfiles: Set<UInt8> = [66, 77, 88]
  // 4:2:0 with 8 bits, no extended sequence parameter sets; reserved bits are 1.
  private static let chroma420: [UInt8] = [0xFD, 0xF8, 0xF8, 0]

  /// Parses the content of the box; nil if a strict decoder would reject it.
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

  /// The content of a box with the same parameter sets and length fields of four bytes.
  package var bytesForLengthSize4: [UInt8] {
    let head = sequenceParameterSets[0][1...3]
    return [1] + head + [0xFF, 0xE0 | UInt8(sequenceParameterSets.count)]
      + Self.joined(sequenceParameterSets) + [UInt8(pictureParameterSets.count)] + Self.joined(pictureParameterSets)
      + highProfile
  }

  /// Whether its frames may be coded as fields: false if no sequence parameter set allows it.
  package var allowsFields: Bool { sequenceParameterSets.contains { SequenceParameterSet($0)?.allowsFields ?? true } }

  /// What its streams ask of a decoder; nil if a sequence parameter set cannot be read, or two differ in their profile.
  ///
  /// - Parameters:
  ///   - framesPerSecond: the most frames in a second.
  ///   - bitsPerSecond: the mean bit rate.
  package func demand(framesPerSecond: Double, bitsPerSecond: Int) -> DecoderDemand? {
    let sets = sequenceParameterSets.compactMap(SequenceParameterSet.init)
    guard sets.count == sequenceParameterSets.count, let profile = sets.first?.profile,
      sets.allSatisfy({ $0.profile == profile })
    else { return nil }
    let levels = sets.map { set in
      max(
        Double(set.level) / 10,
        AVCLevel.lowest(
          for: set.macroblocks, framesPerSecond: framesPerSecond, bitsPerSecond: bitsPerSecond, profile: profile))
    }
    return DecoderDemand(profile: profile, level: levels.max() ?? 0, bitsPerSecond: bitsPerSecond)
  }

  /// Whether the configuration contains a parameter set.
  package func contains(_ unit: UnsafeRawBufferPointer) -> Bool {
    (sequenceParameterSets + pictureParameterSets).contains { $0.elementsEqual(unit) }
  }

  private static func sets(_ count: Int, of type: NALUnit.Kind, _ reader: inout ByteCursor) -> [[UInt8]]? {
    var sets: [[UInt8]] = []
    for _ in 0..<count {
      guard let length = reader.unsigned16(), let unit = reader.bytes(length), unit.count >= 2,
        NALUnit.Kind(header: unit[unit.startIndex]) == type
      else { return nil }
      sets.append(Array(unit))
    }
    return sets
  }

  private static func joined(_ sets: [[UInt8]]) -> [UInt8] {
    sets.flatMap { [UInt8(truncatingIfNeeded: $0.count >> 8), UInt8(truncatingIfNeeded: $0.count)] + $0 }
  }
}

/// Reads bytes in order; nil after the end.
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
