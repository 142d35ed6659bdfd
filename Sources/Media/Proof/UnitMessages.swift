import ISOBaseMedia

/// The messages between coded pictures (ITU-T H.264, 7.3.2.3), in which makers hide what they like.
enum UnitMessages {
  // x264 signs its work; that tells of us, and of no phone.
  private static let x264: [UInt8] = [
    0xDC, 0x45, 0xE9, 0xBD, 0xE6, 0xD9, 0x48, 0xB7, 0x96, 0x2C, 0xD8, 0x20, 0xD9, 0x23, 0xEE, 0xEF,
  ]

  /// What was found in a unit: a message that users or makers define (D.2.5, D.2.6); nil: nothing.
  static func finding(_ unit: AVCUnit) -> String? {
    guard unit.kind == .supplement, isForeign(unit.bytes.dropFirst()) else { return nil }
    return "messages of its camera's maker among the frames"
  }

  private static func isForeign(_ message: Slice<UnsafeRawBufferPointer>) -> Bool {
    guard let type = message.first, type == 4 || type == 5 else { return false }
    return !message.dropFirst().drop { $0 == 0xFF }.dropFirst().starts(with: x264)
  }
}
