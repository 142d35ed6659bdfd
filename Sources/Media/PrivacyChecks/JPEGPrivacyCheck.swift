/// Checks that a JPEG (ITU-T T.81, annex B) has only segments of its image.
enum JPEGPrivacyCheck {
  /// The first finding that is not part of the image; nil if there is none.
  static func finding(in bytes: [UInt8]) -> String? {
    var offset = 2
    while offset + 4 <= bytes.count {
      guard bytes[offset] == 0xFF else { return "a segment without a marker" }
      let marker = bytes[offset + 1]
      let length = Int(bytes[offset + 2]) << 8 | Int(bytes[offset + 3])
      switch marker {
      // The JFIF segment holds only the density.
      case 0xE0 where bytes[(offset + 4)...].starts(with: Array("JFIF".utf8)): break
      case 0xE0...0xEF: return "the segment APP\(marker - 0xE0)"
      case 0xFE: return "a comment"
      // Start of scan: entropy-coded data up to the next marker.
      case 0xDA:
        offset = endOfScan(bytes, from: offset + 2 + length)
        continue
      case 0xD9: return offset + 2 == bytes.count ? nil : "bytes after the image"
      default: break
      }
      offset += 2 + length
    }
    return bytes.suffix(2).elementsEqual([0xFF, 0xD9]) ? nil : "no end-of-image marker"
  }

  private static func endOfScan(_ bytes: [UInt8], from start: Int) -> Int {
    var offset = start
    while offset + 1 < bytes.count {
      // Stuffed zeros and restart markers are part of the entropy-coded data.
      if bytes[offset] == 0xFF, bytes[offset + 1] != 0, !(0xD0...0xD7).contains(bytes[offset + 1]) { return offset }
      offset += 1
    }
    return bytes.count
  }
}
