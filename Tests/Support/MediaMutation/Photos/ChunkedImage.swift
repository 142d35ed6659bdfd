/// A PNG or a WebP as its chunks, whose lengths and checksums are right when it is written.
package struct ChunkedImage {
  package struct Chunk {
    package var name: [UInt8]
    package var content: [UInt8]
  }

  package var chunks: [Chunk] = []
  private let isPNG: Bool
  private var rest: [UInt8] = []

  private static let pngStart: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

  /// Reads a file; nil if it is neither a PNG nor a WebP.
  package init?(_ bytes: [UInt8]) {
    isPNG = bytes.starts(with: Self.pngStart)
    guard isPNG || (bytes.starts(with: "RIFF".utf8) && bytes.dropFirst(8).starts(with: "WEBP".utf8)) else { return nil }
    var offset = isPNG ? 8 : 12
    while offset + 8 <= bytes.count {
      let (first, second) = (Array(bytes[offset..<offset + 4]), Array(bytes[offset + 4..<offset + 8]))
      let length = (isPNG ? first : second.reversed()).reduce(0) { $0 << 8 | Int($1) }
      let end = offset + 8 + length
      guard end + (isPNG ? 4 : length % 2) <= bytes.count else { break }
      chunks.append(Chunk(name: isPNG ? second : first, content: Array(bytes[offset + 8..<end])))
      offset = end + (isPNG ? 4 : length % 2)
    }
    rest = Array(bytes[offset...])
    if chunks.isEmpty { return nil }
  }

  package var bytes: [UInt8] {
    func word(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) } }
    if isPNG {
      return Self.pngStart
        + chunks.flatMap { chunk in
          let body = chunk.name + chunk.content
          return word(UInt32(chunk.content.count)) + body + word(CRC32.checksum(of: body))
        } + rest
    }
    let body = chunks.flatMap { chunk in
      chunk.name + word(UInt32(chunk.content.count)).reversed() + chunk.content
        + [UInt8](repeating: 0, count: chunk.content.count % 2)
    }
    return Array("RIFF".utf8) + word(UInt32(body.count + 4)).reversed() + Array("WEBP".utf8) + body + rest
  }
}

extension ChunkedImage {
  private static let pngNames = [
    "PLTE", "tRNS", "gAMA", "cHRM", "sRGB", "iCCP", "eXIf", "sBIT", "acTL", "fcTL", "fdAT",
  ]
  private static let webpNames = ["VP8X", "ALPH", "ANIM", "ANMF", "VP8 ", "VP8L", "ICCP", "EXIF", "XMP "]

  /// Changes one thing; takes chunks of `other`.
  mutating func change(_ choices: inout Choices, other: ChunkedImage?) {
    guard let index = choices.index(in: chunks) else { return }
    let names = isPNG ? Self.pngNames : Self.webpNames
    switch choices.below(12) {
    case 0...2: changeContent(of: index, &choices)
    case 3, 4: changeContent(of: 0, &choices)
    case 5: chunks.remove(at: index)
    case 6: chunks.insert(chunks[index], at: choices.below(chunks.count + 1))
    case 7: chunks.swapAt(index, choices.below(chunks.count))
    case 8: chunks[index].name = Array((choices.element(of: names) ?? "PLTE").utf8)
    case 9:
      let name = choices.element(of: names) ?? "PLTE"
      let place = choices.chance(percent: 80) ? 1 : choices.below(chunks.count + 1)
      chunks.insert(Chunk(name: Array(name.utf8), content: choices.bytes(choices.below(60))), at: place)
    case 10:
      guard let other, let found = choices.element(of: other.chunks) else { return split(index, &choices) }
      if let place = chunks.firstIndex(where: { $0.name == found.name }) { chunks[place] = found }
    default: split(index, &choices)
    }
  }

  private mutating func changeContent(of index: Int, _ choices: inout Choices) {
    let count = chunks[index].content.count
    if chunks[index].name == Array("eXIf".utf8) || chunks[index].name == Array("EXIF".utf8) {
      return TIFFChanges.apply(to: &chunks[index].content, &choices)
    }
    switch choices.below(4) {
    // The first bytes have the sizes and the kind of the image.
    case 0: choices.spoilNumber(in: &chunks[index].content, at: choices.below(min(count, 16)), width: 1)
    case 1: choices.spoilNumber(in: &chunks[index].content, at: choices.below(min(count, 4)) * 4, width: 4)
    case 2: choices.flipBits(in: &chunks[index].content, 0..<count)
    default: chunks[index].content.removeLast(choices.below(count))
    }
  }

  /// Divides a chunk into two of the same name, as a PNG may with its image data.
  private mutating func split(_ index: Int, _ choices: inout Choices) {
    let chunk = chunks[index]
    let place = choices.below(chunk.content.count)
    chunks[index].content = Array(chunk.content[..<place])
    chunks.insert(Chunk(name: chunk.name, content: Array(chunk.content[place...])), at: index + 1)
  }
}

/// The checksum of a PNG's chunks (PNG 3, annex D).
enum CRC32 {
  private static let table: [UInt32] = (0..<256).map { index in
    (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 1 ? value >> 1 ^ 0xEDB8_8320 : value >> 1 }
  }

  static func checksum(of bytes: [UInt8]) -> UInt32 {
    ~bytes.reduce(UInt32.max) { $0 >> 8 ^ table[Int(UInt8(truncatingIfNeeded: $0) ^ $1)] }
  }
}
