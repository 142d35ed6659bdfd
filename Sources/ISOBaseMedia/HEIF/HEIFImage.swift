/// The picture that a HEIF or AVIF shows, in a file of its own: the primary item, what it is derived from, its
/// transparency, and nothing else.
///
/// Gain maps, mattes, depths, thumbnails, sequences, the film behind a photo and boxes that nobody knows are left out,
/// so a decoder neither stumbles over them nor is attacked through them.
package struct HEIFImage: Sendable {
  /// The file with the picture alone.
  package let bytes: [UInt8]
  /// What the container says of the primary item.
  package let properties: HEIFProperties
  /// Its Exif data from the byte order mark on; empty where there are none.
  package let exif: ArraySlice<UInt8>
  /// Whether the file has a sequence of pictures too.
  package let hasSequence: Bool

  private static let alphaTypes = ["urn:mpeg:mpegB:cicp:systems:auxiliary:alpha", "urn:mpeg:hevc:2015:auxid:1"]

  /// Reads a whole file.
  ///
  /// - Parameter pixels: the most that the picture may have.
  package init(_ file: [UInt8], pixels: Int) throws(HEIFRefusal) {
    let boxes = Box.list(in: file[...])
    hasSequence = boxes.contains { $0.type == "moov" }
    let items = try Self.items(boxes)
    guard let primary = items.primary else { throw .damaged("it does not say which of its pictures is shown") }
    let picture = try HEIFTree(primary, in: items, pixels: pixels)
    let alpha = items.references.first { $0.type == "auxl" && $0.to.contains(primary) && Self.isAlpha($0.from, items) }
    let transparency = try alpha.map { (reference) throws(HEIFRefusal) in
      try HEIFTree(reference.from, in: items, pixels: pixels)
    }
    properties = picture.items.first.flatMap(items.properties).map(HEIFProperties.init) ?? HEIFProperties([])
    let data = HEIFData(file: file[...], items: items)
    exif = data.exif(of: primary)
    var writer = HEIFWriter(items: items, data: data)
    for item in picture.items + (transparency?.items ?? []) { try writer.add(item) }
    bytes = writer.file(primary: primary, alpha: alpha?.from)
  }

  private static func items(_ boxes: [Box]) throws(HEIFRefusal) -> HEIFItems {
    guard let meta = boxes.first(where: { $0.type == "meta" }) else {
      if let other = boxes.first(where: { $0.type == "moov" || $0.type == "mini" }) {
        throw .unsupported("it has no 'meta' box, only '\(other.type)'")
      }
      throw .truncated("it has no 'meta' box, which describes its picture")
    }
    // A film or a maker's data behind the picture may be cut: nothing of it is needed.
    if let cut = boxes.first(where: { $0.isCut && ($0.type == "meta" || $0.type == "mdat") }) {
      throw .truncated("it ends inside of its box '\(cut.type)'")
    }
    guard let items = HEIFItems(meta: meta) else { throw .damaged("it has no list of its items") }
    return items
  }

  private static func isAlpha(_ id: UInt32, _ items: HEIFItems) -> Bool {
    guard let properties = items.items[id].flatMap(items.properties) else { return false }
    return properties.contains { box in
      guard box.type == "auxC" else { return false }
      let type = box.content.dropFirst(4).prefix { $0 != 0 }
      return alphaTypes.contains { type.elementsEqual($0.utf8) }
    }
  }
}
