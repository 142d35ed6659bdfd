/// A NAL unit of H.264 in a sample of an ISO base media file, behind its length (ISO/IEC 14496-15, 5.3.4).
package struct AVCUnit {
  /// What it holds, by the type in its header (ITU-T H.264, table 7-1).
  package enum Kind: Hashable, Sendable {
    /// A slice of a frame that others may precede.
    case slice
    /// A slice of a frame where decoding begins afresh.
    case instantRefreshSlice
    /// A partition of a slice, of the Extended profile, or a slice of an auxiliary picture.
    case rareSlice
    case supplement
    case sequenceParameterSet
    case pictureParameterSet
    /// Delimiters, filler, layers of scalable and stereo video, and what the standard leaves to others.
    case other

    /// - Parameter header: the first byte of the unit.
    init(header: UInt8) {
      self =
        switch header & 0x1F {
        case 1: .slice
        case 2...4, 19: .rareSlice
        case 5: .instantRefreshSlice
        case 6: .supplement
        case 7: .sequenceParameterSet
        case 8: .pictureParameterSet
        default: .other
        }
    }

    /// Whether it is a part of the frame itself.
    package var isFrame: Bool { self == .slice || self == .instantRefreshSlice }
  }

  package let kind: Kind
  /// Its header and its payload.
  package let bytes: UnsafeRawBufferPointer

  /// Visits the units of a sample in order.
  ///
  /// - Parameter lengthBytes: of the length in front of each unit.
  /// - Returns: false where the lengths do not add up to the sample, or a unit is empty.
  package static func forEach<Failure: Error>(
    of sample: UnsafeRawBufferPointer, lengthBytes: Int, _ visit: (AVCUnit) throws(Failure) -> Void
  ) throws(Failure) -> Bool {
    var offset = 0
    while offset < sample.count {
      guard sample.count - offset > lengthBytes else { return false }
      var length = 0
      for _ in 0..<lengthBytes {
        length = length << 8 | Int(sample[offset])
        offset += 1
      }
      guard length > 0, length <= sample.count - offset else { return false }
      let bytes = UnsafeRawBufferPointer(rebasing: sample[offset..<offset + length])
      // The forbidden bit (ITU-T H.264, 7.4.1).
      guard bytes[0] & 0x80 == 0 else { return false }
      try visit(AVCUnit(kind: Kind(header: bytes[0]), bytes: bytes))
      offset += length
    }
    return sample.count > 0
  }

  /// Whether three bytes stand in it that only stand between units of a byte stream (ITU-T H.264, 7.4.1, annex B).
  var holdsStartCode: Bool {
    var offset = 2
    while offset < bytes.count {
      let byte = bytes[offset]
      if byte > 1 {
        offset += 3
      } else if byte == 1 && bytes[offset - 1] == 0 && bytes[offset - 2] == 0 {
        return true
      } else {
        offset += 1
      }
    }
    return false
  }
}
