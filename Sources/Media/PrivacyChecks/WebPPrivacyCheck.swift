import ISOBaseMedia

/// Checks that a WebP (RFC 9649, 2) has only chunks of its image.
enum WebPPrivacyCheck {
  private static let imageChunks: Set<String> = ["VP8X", "ANIM", "ANMF", "VP8 ", "VP8L", "ALPH"]

  /// The first finding that is not part of the image; nil if there is none.
  static func finding(in bytes: [UInt8]) -> String? {
    var rest = bytes.dropFirst(12)
    while rest.count >= 8 {
      let name = String(decoding: rest.prefix(4), as: UTF8.self)
      guard imageChunks.contains(name) else { return "the chunk '\(name)'" }
      let length = rest.dropFirst(4).prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
      rest = rest.dropFirst(8 + length + length % 2)
    }
    return rest.isEmpty ? nil : "bytes after the image"
  }
}

/// Checks that an AVIF (ISO/IEC 23008-12, 6.3) has only items of its image.
enum AVIFPrivacyCheck {
  /// The first finding that is not part of the image; nil if there is none.
  static func finding(in bytes: [UInt8]) -> String? {
    guard let items = HEIFItems(bytes) else { return "no item list" }
    return items.types.first { $0 != "av01" && $0 != "grid" }.map { "an item of type '\($0)'" }
  }
}
