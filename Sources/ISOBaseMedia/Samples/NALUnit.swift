/// A NAL unit of H.264 in a sample of an ISO base media file, which follows its length (ISO/IEC 14496-15, 5.3.4).
package struct NALUnit {
  /// The type in the header, as far as it matters here (ITU-T H.264, table 7-1).
  package enum Kind: Hashable, Sendable {
    /// A slice of a non-IDR picture.
    case slice
    /// A slice of an IDR picture, at which decoding can start.
    case idrSlice
    /// A data partition (Extended profile) or a slice of an auxiliary picture.
    case otherSlice
    /// Supplemental enhancement information.
    case sei
    case sequenceParameterSet
    case pictureParameterSet
    /// Delimiters, filler data, layers of scalable and stereo video, unspecified types.
    case other

    /// - Parameter header: the first byte of the unit.
    init(header: UInt8) {
      self =
        switch header & 0x1F {
        case 1: .slice
        case 2...4, 19: .otherSlice
        case 5: .idrSlice
        case 6: .sei
        case 7: .sequenceParameterSet
        case 8: .pictureParameterSet
        default: .other
        }
    }

    /// Whether it is a slice of the primary coded picture.
    package var isPrimarySlice: Bool { self == .slice || self == .idrSlice }
  }

  // A frame of 1080p with a slice for each row of macroblocks has 68.
  private static let maxUnits = 4096

  package let kind: Kind
  /// The header and the payload.
  package let bytes: UnsafeRawBufferPointer

  /// Calls a closure for each unit of a sample, in order.
  ///
  /// - Parameter lengthBytes: the size of the length field of each unit.
  /// - Returns: false if the lengths do not add up to the sample, a unit is empty or invalid, or there are too many.
  package static func forEach<Failure: Error>(
    of sample: UnsafeRawBufferPointer, lengthBytes: Int, _ visit: (NALUnit) throws(Failure) -> Void
  ) throws(Failure) -> Bool {
    var offset = 0
    var units = 0
    while offset < sample.count {
      units += 1
      guard units <= maxUnits, sample.count - offset > lengthBytes else { return false }
      var length = 0
      for _ in 0..<lengthBytes {
        length = length << 8 | Int(sample[offset])
        offset += 1
      }
      guard length > 0, length <= sample.count - offset else { return false }
      let bytes = UnsafeRawBufferPointer(rebasing: sample[offset..<offset + length])
      // forbidden_zero_bit (ITU-T H.264, 7.4.1).
      guard bytes[0] & 0x80 == 0 else { return false }
      try visit(NALUnit(kind: Kind(header: bytes[0]), bytes: bytes))
      offset += length
    }
    return sample.count > 0
  }

  /// Whether the unit contains a start code, which is allowed only between units of a byte stream (ITU-T H.264, 7.4.1).
  var containsStartCode: Bool {
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
