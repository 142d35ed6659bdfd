/// What a HEIF or AVIF consists of (ISO/IEC 14496-12, 8.11.6).
package struct HEIFItems: Sendable {
  /// The types of its items, `av01`, `Exif`, in the order of the file.
  package let types: [String]

  /// Nil where the file has no list of items. `bytes`: the whole file.
  package init?(_ bytes: [UInt8]) {
    guard let meta = Box.list(in: bytes[...]).first(where: { $0.type == "meta" })?.children(after: 4),
      let list = meta.first(where: { $0.type == "iinf" })
    else { return nil }
    // The number of entries has four bytes from version 1 on.
    types = list.children(after: list.content.first == 0 ? 6 : 8).filter { $0.type == "infe" }.map { entry in
      let offset = (entry.content.first ?? 0) < 3 ? 8 : 10
      return String(decoding: entry.content.dropFirst(offset).prefix(4), as: UTF8.self)
    }
  }
}
