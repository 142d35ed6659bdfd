/// The LZW codes of an image of a GIF (GIF89a, appendix F); only their lengths are decoded.
///
/// FFmpeg's decoder leaves transparent what codes are missing for, so that an image that ends early would pass for a whole one.
enum GIFCodes {
  private static let maxBits = 12

  /// Counts the pixels that the codes give, up to a limit, and refuses a code without a meaning.
  ///
  /// - Parameters:
  ///   - blocks: with their lengths, up to an empty one.
  ///   - minBits: the number of bits of an index of a colour.
  static func pixels(in blocks: ArraySlice<UInt8>, minBits: Int, atMost limit: Int) throws(ImageError) -> Int {
    var reader = Reader(blocks)
    let clear = 1 << minBits
    // Of each code, the number of its pixels.
    var lengths = [Int](repeating: 1, count: 1 << maxBits)
    var (next, bits, previous, total) = (clear + 2, minBits + 1, Int?.none, 0)
    while total < limit, let code = reader.next(bits), code != clear + 1 {
      if code == clear {
        (next, bits, previous) = (clear + 2, minBits + 1, nil)
        continue
      }
      guard let last = previous else {
        guard code < clear else { throw .malformed("its codes begin with \(code)") }
        (total, previous) = (total + 1, code)
        continue
      }
      // The next code, which this one defines, is the last one with its own first pixel.
      let isNew = code == next
      guard code < next || isNew && next < lengths.count else { throw .malformed("its code \(code) has no meaning") }
      if next < lengths.count {
        lengths[next] = lengths[last] + 1
        next += 1
        // Codes keep their bits once all are defined, until they are cleared.
        if next == 1 << bits, bits < maxBits { bits += 1 }
      }
      (total, previous) = (total + lengths[code], code)
    }
    return min(total, limit)
  }

  /// Reads codes from blocks, the lowest bits first.
  private struct Reader {
    private let blocks: ArraySlice<UInt8>
    private var offset: Int
    /// The bytes that are left of the block.
    private var left = 0
    private var buffer: UInt32 = 0
    private var count = 0

    init(_ blocks: ArraySlice<UInt8>) {
      self.blocks = blocks
      offset = blocks.startIndex
    }

    /// The next code of so many bits, at most 12; nil if the blocks end.
    mutating func next(_ bits: Int) -> Int? {
      while count < bits {
        if left == 0 {
          guard offset < blocks.endIndex, blocks[offset] > 0 else { return nil }
          left = Int(blocks[offset])
          offset += 1
        }
        guard offset < blocks.endIndex else { return nil }
        buffer |= UInt32(blocks[offset]) << count
        count += 8
        offset += 1
        left -= 1
      }
      defer {
        buffer >>= bits
        count -= bits
      }
      return Int(buffer & (1 << bits - 1))
    }
  }
}
