import Glibc
import ISOBaseMedia
import Model

/// What the headers of an image say, if its file is one as this program writes them: no metadata in front of the image,
/// and no byte behind it.
struct ImageHeader: Hashable {
  /// The possible sizes: an AVIF can be cropped.
  let sizes: Set<Size>
  /// The duration of an animation, in seconds; nil for one frame.
  var seconds: Double?

  /// Reads the headers of a file of a media type; nil if it is not one of this program.
  static func read(_ file: RequestFile, type: String) throws(MediaFailure) -> ImageHeader? {
    switch type {
    case "image/jpeg": return try jpeg(file)
    case "image/webp": return try webp(file)
    case "image/avif":
      return try AVIFHeader.read(size: file.count) { (offset, count) throws(MediaFailure) in
        try file.bytes(at: offset, count: count)
      }.map { ImageHeader(sizes: $0.sizes) }
    default: return nil
    }
  }

  /// Reads the segments of a JPEG up to its frame header (ITU-T T.81, B.2.2).
  private static func jpeg(_ file: RequestFile) throws(MediaFailure) -> ImageHeader? {
    // JFIF and the tables need about 200 bytes.
    let bytes = try file.bytes(at: 0, count: 2048)
    func word(_ offset: Int) -> Int { Int(bytes[offset]) << 8 | Int(bytes[offset + 1]) }
    guard bytes.starts(with: [0xFF, 0xD8]) else { return nil }
    var offset = 2
    while offset + 9 <= bytes.count, bytes[offset] == 0xFF {
      switch bytes[offset + 1] {
      // Baseline, extended and progressive.
      case 0xC0...0xC2:
        guard try endsWithImage(file, from: Int64(offset)) else { return nil }
        return ImageHeader(sizes: [Size(width: word(offset + 7), height: word(offset + 5))])
      // The density, tables of quantisation and of Huffman codes.
      case 0xE0, 0xDB, 0xC4: offset += 2 + word(offset + 2)
      default: return nil
      }
    }
    return nil
  }

  /// Whether the first end-of-image marker behind a frame header is the end of the file. Neither entropy-coded data
  /// nor the tables between them hold its two bytes.
  private static func endsWithImage(_ file: RequestFile, from start: Int64) throws(MediaFailure) -> Bool {
    var offset = start
    while offset + 1 < file.count {
      let block = try file.bytes(at: offset, count: 1 << 16)
      guard block.count > 1 else { return false }
      if let marker = endOfImage(in: block) { return offset + Int64(marker) + 2 == file.count }
      // The marker can lie across two blocks.
      offset += Int64(block.count - 1)
    }
    return false
  }

  private static func endOfImage(in block: [UInt8]) -> Int? {
    block.withUnsafeBytes { bytes in
      var offset = 0
      while let base = bytes.baseAddress, offset + 1 < bytes.count,
        let found = memchr(base + offset, 0xFF, bytes.count - offset - 1)
      {
        offset = UnsafeRawPointer(found) - base
        if bytes[offset + 1] == 0xD9 { return offset }
        offset += 1
      }
      return nil
    }
  }

  /// Reads the headers of the chunks of a WebP (RFC 9649, 2.3 to 2.7).
  private static func webp(_ file: RequestFile) throws(MediaFailure) -> ImageHeader? {
    guard let start = WebPChunk(try file.bytes(at: 0, count: WebPChunk.headerBytes), at: 0), start.name == "RIFF",
      start.end == file.count, start.payload.starts(with: "WEBP".utf8),
      let first = WebPChunk(try file.bytes(at: 12, count: WebPChunk.headerBytes), at: 12)
    else { return nil }
    guard first.name == "VP8X" else {
      return first.end == file.count ? first.frameSize.map { ImageHeader(sizes: [$0]) } : nil
    }
    let size = Size(width: first.number(at: 4, count: 3) + 1, height: first.number(at: 7, count: 3) + 1)
    var milliseconds: Int?
    var offset = first.end
    var chunks = 0
    while offset < file.count {
      chunks += 1
      guard chunks <= WebPChunk.maxCount,
        let chunk = WebPChunk(
          try file.bytes(at: offset, count: WebPChunk.headerBytes), at: offset),
        ["ANIM", "ANMF", "ALPH", "VP8 ", "VP8L"].contains(chunk.name)
      else { return nil }
      if chunk.name == "ANMF" { milliseconds = (milliseconds ?? 0) + chunk.number(at: 12, count: 3) }
      offset = chunk.end
    }
    guard offset == file.count else { return nil }
    return ImageHeader(sizes: [size], seconds: milliseconds.map { Double($0) / 1000 })
  }
}

/// A chunk of a WebP.
private struct WebPChunk {
  let name: String
  /// The first bytes of its content.
  let payload: ArraySlice<UInt8>
  /// The offset behind it, and behind its padding.
  let end: Int64

  /// Name, length and as much of the content as the headers of an image and of a frame of an animation need.
  static let headerBytes = 24
  // A preview has a chunk for each of its frames, a few dozen.
  static let maxCount = 1024

  init?(_ bytes: [UInt8], at offset: Int64) {
    guard bytes.count >= 8 else { return nil }
    name = String(decoding: bytes.prefix(4), as: UTF8.self)
    payload = bytes.dropFirst(8)
    let length = bytes[4..<8].reversed().reduce(0) { $0 << 8 | Int64($1) }
    end = offset + 8 + length + length % 2
  }

  /// A number in the content, little endian.
  func number(at offset: Int, count: Int) -> Int {
    payload.dropFirst(offset).prefix(count).reversed().reduce(0) { $0 << 8 | Int($1) }
  }

  /// The size in the header of a frame (RFC 6386, 9.1; RFC 9649, 3.4); nil if it is none.
  var frameSize: Size? {
    switch name {
    case "VP8 " where payload.dropFirst(3).starts(with: [0x9D, 0x01, 0x2A]):
      return Size(width: number(at: 6, count: 2) & 0x3FFF, height: number(at: 8, count: 2) & 0x3FFF)
    case "VP8L" where payload.first == 0x2F:
      let bits = number(at: 1, count: 4)
      return Size(width: bits & 0x3FFF + 1, height: bits >> 14 & 0x3FFF + 1)
    default: return nil
    }
  }
}
