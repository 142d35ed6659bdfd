/// Changes of Exif data, which are a TIFF file (CIPA DC-008, 4.5).
enum TIFFChanges {
  /// Changes one to three fields of the first directory or of one that it points at.
  static func apply(to bytes: inout [UInt8], _ choices: inout Choices) {
    let start = bytes.starts(with: "Exif\0\0".utf8) ? 6 : 0
    guard bytes.count >= start + 8 else { return choices.flipBits(in: &bytes, 0..<bytes.count) }
    let isLittle = bytes[start] == 0x49
    func number(_ offset: Int, _ width: Int) -> Int? {
      guard offset >= 0, offset + width <= bytes.count else { return nil }
      let part = bytes[offset..<offset + width]
      return isLittle ? part.reversed().reduce(0) { $0 << 8 | Int($1) } : part.reduce(0) { $0 << 8 | Int($1) }
    }
    guard let directory = number(start + 4, 4).map({ $0 + start }), let count = number(directory, 2), count > 0 else {
      return choices.flipBits(in: &bytes, 0..<bytes.count)
    }
    for _ in 0...choices.below(3) {
      let field = directory + 2 + 12 * choices.below(count)
      switch choices.below(6) {
      case 0: choices.spoilNumber(in: &bytes, at: field, width: 2, isLittle: isLittle)
      case 1: choices.spoilNumber(in: &bytes, at: field + 2, width: 2, isLittle: isLittle)
      case 2: choices.spoilNumber(in: &bytes, at: field + 4, width: 4, isLittle: isLittle)
      case 3: choices.spoilNumber(in: &bytes, at: field + 8, width: 4, isLittle: isLittle)
      case 4: choices.spoilNumber(in: &bytes, at: directory, width: 2, isLittle: isLittle)
      default: choices.spoilNumber(in: &bytes, at: start + 4, width: 4, isLittle: isLittle)
      }
    }
  }
}
