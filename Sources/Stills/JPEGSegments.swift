/// The metadata segments of a JPEG file in front of its first scan (ITU-T T.81, annex B).
package struct JPEGSegments: Sendable {
  /// The Exif data from the byte order mark on; empty if there are none.
  package private(set) var exif: ArraySlice<UInt8> = []
  /// The ICC profile, joined from its parts (ICC.1, annex B.4); empty if there is none.
  package private(set) var profile: [UInt8] = []
  /// The XMP text; empty if there is none.
  package private(set) var xmp: ArraySlice<UInt8> = []
  /// Whether there are Photoshop image resources, which hold IPTC data.
  package private(set) var hasPhotoshopResources = false

  /// Whether the bytes end before the first scan, so that more of the file may have more segments.
  package private(set) var isCut = false

  private static let exifMark = Array("Exif\0\0".utf8)
  private static let profileMark = Array("ICC_PROFILE\0".utf8)
  private static let xmpMark = Array("http://ns.adobe.com/xap/1.0/\0".utf8)
  private static let resourcesMark = Array("Photoshop 3.0\0".utf8)

  /// Reads segments up to the first scan or the first invalid one; the decoder reports errors, and passes over bytes between segments too.
  package init(_ bytes: [UInt8]) {
    var parts: [UInt8: ArraySlice<UInt8>] = [:]
    var offset = 2
    defer { isCut = isCut || offset + 4 > bytes.count }
    while offset + 4 <= bytes.count {
      let marker = bytes[offset + 1]
      // A marker may be preceded by any number of fill bytes, and some cameras write others between two segments.
      if bytes[offset] != 0xFF || marker == 0xFF || marker == 0 {
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
      case 0xED where content.starts(with: Self.resourcesMark): hasPhotoshopResources = true
      default: break
      }
      offset = end
    }
    profile = parts.sorted { $0.key < $1.key }.flatMap(\.value)
  }
}
