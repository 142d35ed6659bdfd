/// Looks through the chunks of a WebP (RFC 9649, 2) for what is no picture.
enum WebPPrivacyCheck {
  private static let pictures: Set<String> = ["VP8X", "ANIM", "ANMF", "VP8 ", "VP8L", "ALPH"]

  /// What was found that is no part of the picture; nil: nothing.
  static func finding(in bytes: [UInt8]) -> String? {
    var rest = bytes.dropFirst(12)
    while rest.count >= 8 {
      let name = String(decoding: rest.prefix(4), as: UTF8.self)
      guard pictures.contains(name) else { return "the chunk '\(name)'" }
      let length = rest.dropFirst(4).prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
      rest = rest.dropFirst(8 + length + length % 2)
    }
    return rest.isEmpty ? nil : "bytes behind the picture"
  }
}
