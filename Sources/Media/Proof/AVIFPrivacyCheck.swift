import ISOBaseMedia

/// Looks through the items of an AVIF (ISO/IEC 23008-12, 6.3) for what is no picture.
enum AVIFPrivacyCheck {
  /// What was found that is no part of the picture; nil: nothing.
  static func finding(in bytes: [UInt8]) -> String? {
    guard let items = HEIFItems(bytes) else { return "no list of its items" }
    return items.types.first { $0 != "av01" && $0 != "grid" }.map { "an item of '\($0)'" }
  }
}
