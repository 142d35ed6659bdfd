/// The Exif data of a PNG, wherever the file has them: libpng gives those in front of the pixels, and some programs write them behind.
package enum PNGExif {
  private static let signatureBytes = 8
  // Of a chunk: the length, the type, and the checksum (PNG 3, 5.3).
  private static let headBytes = 8
  private static let checksumBytes = 4
  // Images have a few hundred chunks.
  private static let maxChunks = 100_000

  /// The content of the first chunk `eXIf`; empty if there is none.
  package static func find(in file: [UInt8]) -> ArraySlice<UInt8> {
    var offset = signatureBytes
    for _ in 0..<maxChunks where offset + headBytes <= file.count {
      let length = file[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
      let content = offset + headBytes
      guard length <= file.count - content else { return [] }
      if file[offset + 4..<content].elementsEqual("eXIf".utf8) { return file[content..<content + length] }
      offset = content + length + checksumBytes
    }
    return []
  }
}
