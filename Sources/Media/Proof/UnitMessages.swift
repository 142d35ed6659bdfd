/// The messages between coded pictures (ITU-T H.264, 7.3.2.3), in which makers hide what they like.
enum UnitMessages {
  private static let supplement: UInt8 = 6
  // x264 signs its work; that tells of us, and of no phone.
  private static let x264: [UInt8] = [
    0xDC, 0x45, 0xE9, 0xBD, 0xE6, 0xD9, 0x48, 0xB7, 0x96, 0x2C, 0xD8, 0x20, 0xD9, 0x23, 0xEE, 0xEF,
  ]

  /// Whether a packet, its units behind lengths of four bytes, has a message that users or makers define (D.2.5, D.2.6).
  static func hasForeign(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var rest = bytes[...]
    while rest.count > 4 {
      let length = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
      let unit = rest.dropFirst(4).prefix(length)
      if let first = unit.first, first & 0x1F == supplement, isForeign(unit.dropFirst()) { return true }
      rest = rest.dropFirst(4 + length)
    }
    return false
  }

  private static func isForeign(_ message: Slice<UnsafeRawBufferPointer>) -> Bool {
    guard let type = message.first, type == 4 || type == 5 else { return false }
    return !message.dropFirst().drop { $0 == 0xFF }.dropFirst().starts(with: x264)
  }
}
