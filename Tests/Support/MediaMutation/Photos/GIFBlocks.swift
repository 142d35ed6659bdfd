/// A GIF (GIF89a) as its blocks, whose lengths are right when it is written.
package struct GIFBlocks {
  /// An extension, or an image with its table of colours.
  package struct Block {
    package var header: [UInt8]
    /// The text of an extension, or the codes of an image.
    package var content: [UInt8]
  }

  /// The header of the canvas, and its table of colours.
  private var screen: [UInt8]
  package var blocks: [Block] = []
  private var rest: [UInt8] = []

  /// Reads a file; nil if it is not a GIF.
  package init?(_ bytes: [UInt8]) {
    guard bytes.count >= 13, bytes.starts(with: "GIF8".utf8) else { return nil }
    var offset = min(13 + Self.table(bytes[10]), bytes.count)
    screen = Array(bytes[..<offset])
    while offset + 11 < bytes.count {
      var end = offset
      switch bytes[offset] {
      case 0x21: end += 2
      case 0x2C: end += 11 + Self.table(bytes[offset + 9])
      default: break
      }
      guard end > offset, let content = Self.content(of: bytes, at: end) else { break }
      blocks.append(Block(header: Array(bytes[offset..<end]), content: content.bytes))
      offset = content.end
    }
    rest = Array(bytes[offset...])
  }

  /// The number of bytes of the table of colours that flags announce.
  private static func table(_ flags: UInt8) -> Int { flags & 0x80 == 0 ? 0 : 6 << Int(flags & 7) }

  /// The joined content of blocks with lengths, and the offset behind the empty one; nil if they are cut.
  private static func content(of bytes: [UInt8], at start: Int) -> (bytes: [UInt8], end: Int)? {
    var (content, offset) = ([UInt8](), start)
    while offset < bytes.count, bytes[offset] > 0 {
      let end = offset + 1 + Int(bytes[offset])
      guard end < bytes.count else { return nil }
      content += bytes[offset + 1..<end]
      offset = end
    }
    return offset < bytes.count ? (content, offset + 1) : nil
  }

  package var bytes: [UInt8] { screen + blocks.flatMap { $0.header + Self.written($0.content) } + rest }

  private static func written(_ content: [UInt8]) -> [UInt8] {
    var written: [UInt8] = []
    for start in stride(from: 0, to: content.count, by: 255) {
      let part = content[start..<min(start + 255, content.count)]
      written.append(UInt8(part.count))
      written += part
    }
    return written + [0]
  }
}

extension GIFBlocks {
  /// Changes one thing; takes blocks of `other`.
  mutating func change(_ choices: inout Choices, other: GIFBlocks?) {
    guard let index = choices.index(in: blocks) else { return }
    let header = blocks[index].header.count
    switch choices.below(12) {
    // The size of the canvas, or its flags.
    case 0: choices.spoilNumber(in: &screen, at: choices.element(of: [6, 8]) ?? 6, width: 2, isLittle: true)
    case 1: choices.spoilNumber(in: &screen, at: 10, width: 1)
    // The place and the size of an image, its flags, or the bits of its codes.
    case 2, 3: choices.spoilNumber(in: &blocks[index].header, at: 1 + 2 * choices.below(4), width: 2, isLittle: true)
    case 4: choices.spoilNumber(in: &blocks[index].header, at: choices.chance(percent: 50) ? 9 : header - 1, width: 1)
    case 5, 6: choices.flipBits(in: &blocks[index].content, 0..<blocks[index].content.count)
    case 7: blocks[index].content.removeLast(choices.below(blocks[index].content.count))
    case 8: blocks.remove(at: index)
    case 9: blocks.insert(blocks[index], at: choices.below(blocks.count + 1))
    case 10: blocks.swapAt(index, choices.below(blocks.count))
    default:
      guard let found = choices.element(of: other?.blocks ?? []) else { return }
      blocks.insert(found, at: choices.below(blocks.count + 1))
    }
  }
}
