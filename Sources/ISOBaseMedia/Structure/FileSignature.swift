/// Names what a file is when it is not a container of boxes, so that its sender understands the refusal.
enum FileSignature {
  private static let signatures: [(offset: Int, bytes: [UInt8], name: String)] = [
    (0, Array("#EXTM3U".utf8), "an HLS playlist"),
    (0, Array("ffconcat version".utf8), "an ffconcat list"),
    (0, [0x1A, 0x45, 0xDF, 0xA3], "a WebM or Matroska file"),
    (0, [0xFF, 0xD8, 0xFF], "a JPEG picture"),
    (0, [0x89, 0x50, 0x4E, 0x47], "a PNG picture"),
    (0, Array("GIF8".utf8), "a GIF picture"),
    (8, Array("WEBP".utf8), "a WebP picture"),
    (8, Array("AVI ".utf8), "an AVI file"),
    (8, Array("WAVE".utf8), "a WAV file"),
    (0, Array("OggS".utf8), "an Ogg file"),
    (0, Array("fLaC".utf8), "a FLAC file"),
    (0, Array("ID3".utf8), "an MP3 file"),
    (0, Array("FLV".utf8), "a Flash video"),
    (0, Array("%PDF".utf8), "a PDF document"),
    (0, [0x50, 0x4B, 0x03, 0x04], "a ZIP archive"),
    (0, [0x30, 0x26, 0xB2, 0x75], "a Windows Media file"),
    (0, [0x00, 0x00, 0x01, 0xBA], "an MPEG program stream"),
  ]

  /// What the first bytes of a file say it is, as a noun with its article.
  static func name(of start: ArraySlice<UInt8>) -> String {
    // A mark of byte order and blanks may stand before the first word of a list.
    let unmarked = start.starts(with: [0xEF, 0xBB, 0xBF]) ? start.dropFirst(3) : start
    let text = unmarked.drop { $0 == 0x20 || $0 == 0x09 || $0 == 0x0A || $0 == 0x0D }
    for signature in signatures {
      let candidates = signature.offset == 0 ? [start, text] : [start.dropFirst(signature.offset)]
      if candidates.contains(where: { $0.starts(with: signature.bytes) }) { return signature.name }
    }
    if start.first == 0x47, start.count > 188, start[start.startIndex + 188] == 0x47 {
      return "an MPEG transport stream"
    }
    return isText(unmarked) ? "a text file" : "of a kind that is not known here"
  }

  private static func isText(_ bytes: ArraySlice<UInt8>) -> Bool {
    guard bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 || $0 == 0x0A || $0 == 0x0D }) else { return false }
    // The last character may go on past what was read.
    return !bytes.isEmpty
      && (0...3).contains { String(validating: bytes.dropLast($0), as: UTF8.self)?.isEmpty == false }
  }
}
