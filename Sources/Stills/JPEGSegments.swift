/// What stands in a JPEG before its first scan, beside the picture (ITU-T T.81, annex B).
package struct JPEGSegments: Sendable {
  /// Exif data from the byte order mark on; empty where there are none.
  package private(set) var exif: ArraySlice<UInt8> = []
  /// An ICC profile, its parts put together (ICC.1, annex B.4).
  package private(set) var profile: [UInt8] = []
  /// XMP, as text.
  package private(set) var xmp: ArraySlice<UInt8> = []
  /// Whether Photoshop's resources are there, which hold IPTC data.
  package private(set) var hasResources = false

  /// Whether the bytes ended before the segments did: more of the file tells more.
  package private(set) var isCut = false

  private static let exifMark = Array("Exif\0\0".utf8)
  private static let profileMark = Array("ICC_PROFILE\0".utf8)
  private static let xmpMark = Array("http://ns.adobe.com/xap/1.0/\0".utf8)
  private static let resourcesMark = Array("Photoshop 3.0\0".utf8)

  /// Reads as far as the segments make sense; what follows is for the decoder to judge.
  package init(_ bytes: [UInt8]) {
    var parts: [UInt8: ArraySlice<UInt8>] = [:]
    var offset = 2
    defer { isCut = isCut || offset + 4 > bytes.count }
    while offset + 4 <= bytes.count, bytes[offset] == 0xFF {
      let marker = bytes[offset + 1]
      // Any number of fill bytes may stand before a marker.
      if marker == 0xFF {
        offset += 1
        continue
      }
      let end = offset + 2 + (Int(bytes[offset + 2]) << 8 | Int(bytes[offset + 3]))
      guard marker != 0xDA, marker != 0xD9, end > offset + 3 else { break }
      guard end <= bytes.count else {
        isCut = true
        break
      }
      let content = bytes[offset + 4..<max(end, offset + 4)]
      switch marker {
      case 0xE1 where exif.isEmpty && content.starts(with: Self.exifMark): exif = content.dropFirst(6)
      case 0xE1 where xmp.isEmpty && content.starts(with: Self.xmpMark): xmp = content.dropFirst(Self.xmpMark.count)
      case 0xE2 where content.starts(with: Self.profileMark) && content.count > 14:
        parts[content[content.startIndex + 12]] = content.dropFirst(14)
      case 0xED where content.starts(with: Self.resourcesMark): hasResources = true
      default: break
      }
      offset = end
    }
    profile = parts.sorted { $0.key < $1.key }.flatMap(\.value)
  }
}
