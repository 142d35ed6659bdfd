/// Looks through the segments of a JPEG (ITU-T T.81, annex B) for what is no picture.
enum JPEGPrivacyCheck {
  /// What was found that is no part of the picture; nil: nothing.
  static func finding(in bytes: [UInt8]) -> String? {
    var offset = 2
    while offset + 4 <= bytes.count {
      guard bytes[offset] == 0xFF else { return "a segment without a marker" }
      let marker = bytes[offset + 1]
      let length = Int(bytes[offset + 2]) << 8 | Int(bytes[offset + 3])
      switch marker {
      // JFIF's own segment names density and nothing else.
      case 0xE0 where bytes[(offset + 4)...].starts(with: Array("JFIF".utf8)): break
      case 0xE0...0xEF: return "the segment APP\(marker - 0xE0)"
      case 0xFE: return "a comment"
      // The scan: up to its next marker there are only samples.
      case 0xDA:
        offset = endOfScan(bytes, from: offset + 2 + length)
        continue
      case 0xD9: return offset + 2 == bytes.count ? nil : "bytes behind the picture"
      default: break
      }
      offset += 2 + length
    }
    return bytes.suffix(2).elementsEqual([0xFF, 0xD9]) ? nil : "no end"
  }

  private static func endOfScan(_ bytes: [UInt8], from start: Int) -> Int {
    var offset = start
    while offset + 1 < bytes.count {
      // Stuffed zeros and restart markers belong to the samples.
      if bytes[offset] == 0xFF, bytes[offset + 1] != 0, !(0xD0...0xD7).contains(bytes[offset + 1]) { return offset }
      offset += 1
    }
    return bytes.count
  }
}
