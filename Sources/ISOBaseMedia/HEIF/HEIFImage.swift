import Model

/// The primary image of a HEIF or AVIF, rewritten to a file that contains only its items and its alpha channel, without its orientation,
/// which `properties` has: libheif cannot mirror images of more than 8 bits.
///
/// Gain maps, mattes, depth maps, thumbnails, sequences, the video of a motion photo and unknown boxes are left out, so
/// that a decoder neither fails on them nor is attacked through them.
package struct HEIFImage: Sendable {
  /// The rewritten file.
  package let bytes: [UInt8]
  /// The properties of the primary item.
  package let properties: HEIFProperties
  /// The Exif data from the byte order mark on; empty if there are none.
  package let exif: ArraySlice<UInt8>
  /// Whether the file also has an image sequence.
  package let hasSequence: Bool
  /// Whether its colours are multiplied by its alpha channel already.
  package let isPremultiplied: Bool
  /// Whether its AV1 has luma alone.
  package let isMonochrome: Bool

  /// Parses an entire file.
  ///
  /// - Parameter pixels: the maximum number of pixels of the image.
  package init(_ file: [UInt8], pixels: Int) throws(HEIFRefusal) {
    let boxes = try HEIFItems.all(Box.list(in: file[...]))
    hasSequence = boxes.contains { $0.type == "moov" }
    let items = try Self.items(boxes).joiningAlphaOfTiles()
    let data = HEIFData(file: file[...], items: items)
    let trees = try Self.trees(in: data, pixels: pixels)
    properties = trees.image.items.first.flatMap(items.properties).map(HEIFProperties.init) ?? HEIFProperties([])
    exif = data.exif(of: trees.primary)
    isPremultiplied = trees.alpha.map { items.isPremultiplied(trees.primary, by: $0) } ?? false
    isMonochrome = trees.image.items.contains { item in
      // The configuration of AV1 (AV1 in ISO base media 1.2.0, 2.3.3).
      let configuration = items.properties(of: item)?.first { $0.type == "av1C" }
      return (configuration?.reader.byte(at: 2) ?? 0) & 0x10 != 0
    }
    var writer = HEIFWriter(items: items, data: data)
    for item in trees.image.items + (trees.transparency?.items ?? []) {
      try writer.add(item, isUpright: item.id == trees.primary || item.id == trees.alpha)
    }
    bytes = writer.file(primary: trees.primary, alpha: trees.alpha)
  }

  /// The items of the primary image and of its alpha channel.
  private static func trees(
    in data: HEIFData, pixels: Int
  ) throws(HEIFRefusal) -> (primary: UInt32, image: HEIFTree, alpha: UInt32?, transparency: HEIFTree?) {
    let items = data.items
    guard let primary = items.primary else { throw .damaged("it has no primary item") }
    let image = try HEIFTree(primary, in: data, pixels: pixels)
    let alpha = items.alpha(of: primary)
    let transparency = try alpha.map { (alpha) throws(HEIFRefusal) in try HEIFTree(alpha, in: data, pixels: pixels) }
    return (primary, image, alpha, transparency)
  }

  private static func items(_ boxes: [Box]) throws(HEIFRefusal) -> HEIFItems {
    guard let meta = boxes.first(where: { $0.type == "meta" }) else {
      if let other = boxes.first(where: { $0.type == "moov" || $0.type == "mini" }) {
        throw .unsupported("it has no 'meta' box, only '\(other.type)'")
      }
      throw .truncated("it has no 'meta' box, which describes its image")
    }
    // A truncated video or truncated vendor data after the image are no obstacle: they are not needed.
    if let cut = boxes.first(where: { $0.isCut && ($0.type == "meta" || $0.type == "mdat") }) {
      throw .truncated("it ends inside its box '\(cut.type)'")
    }
    return try HEIFItems(meta: meta)
  }
}

/// The size and orientation of an image by its container (ISO/IEC 23008-12, 6.5.3, 6.5.10 and 6.5.12).
package struct HEIFProperties: Sendable {
  /// One transformation towards an upright image.
  package enum Step: Hashable, Sendable {
    /// A rotation anticlockwise by 1 to 3 quarters.
    case rotate(Int)
    /// Exchanges left and right, or top and bottom.
    case mirror(isLeftRight: Bool)
  }

  /// The transformations in the order in which they are applied.
  package private(set) var steps: [Step] = []
  /// Whether the container says how the image is turned, even if it is not.
  package private(set) var statesOrientation = false

  /// The size before cropping or rotation; nil if the container has none.
  private(set) var size: Size?
  /// The number of pixels of this size.
  var pixels: Int? { size.map { Int(clamping: UInt64($0.width) * UInt64($0.height)) } }

  /// - Parameter properties: the properties of one item, in their order.
  init(_ properties: [Box]) {
    for property in properties {
      let reader = property.reader
      if property.type == "irot" || property.type == "imir" { statesOrientation = true }
      switch property.type {
      case "ispe":
        guard let width = reader.unsigned32(at: 4), let height = reader.unsigned32(at: 8) else { continue }
        size = Size(width: Int(width), height: Int(height))
      case "irot":
        if let value = reader.byte(at: 0), value & 3 != 0 { steps.append(.rotate(Int(value & 3))) }
      case "imir":
        // The edition of 2022 says so; readers disagreed on 2017's, and phones wrote this form (MPEGGroup/FileFormat#22).
        if let value = reader.byte(at: 0) { steps.append(.mirror(isLeftRight: value & 1 == 1)) }
      default: break
      }
    }
  }
}
