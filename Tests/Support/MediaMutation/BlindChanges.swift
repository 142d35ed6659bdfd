/// Changes of bytes without knowledge of a format.
enum BlindChanges {
  static func apply(to bytes: inout [UInt8], _ choices: inout Choices) {
    guard !bytes.isEmpty else { return }
    switch choices.below(8) {
    case 0, 1, 2: choices.flipBits(in: &bytes, 0..<bytes.count)
    case 3: bytes[choices.below(bytes.count)] = choices.byte()
    case 4: bytes.removeLast(1 + choices.below(bytes.count))
    case 5: bytes.removeSubrange(range(of: bytes, &choices))
    case 6: bytes.insert(contentsOf: choices.bytes(1 + choices.below(32)), at: choices.below(bytes.count))
    default:
      let range = range(of: bytes, &choices)
      bytes.replaceSubrange(range, with: repeatElement(choices.chance(percent: 50) ? 0 : 0xFF, count: range.count))
    }
  }

  private static func range(of bytes: [UInt8], _ choices: inout Choices) -> Range<Int> {
    let start = choices.below(bytes.count)
    return start..<min(bytes.count, start + 1 + choices.below(64))
  }
}
