/// The items of an image: the image item and, recursively, the items that it is derived from (ISO/IEC 23008-12, 6.6).
struct HEIFTree {
  /// Each item once; the image item comes first.
  private(set) var items: [HEIFItem] = []
  private var visited: Set<UInt32> = []
  private var visits = 0
  private var codedPixels = 0
  private var canvasPixels = 0

  private let data: HEIFData
  private let maxPixels: Int

  // A photo is usually a grid of tiles, perhaps rotated; a thousand tiles make 64 megapixels.
  private static let maxDepth = 8
  private static let maxVisits = 4096
  // The pixels of all coded items, and the pixels of all canvases, divided by the allowed ones: tiles extend beyond the edges
  // of the image.
  private static let maxDecodedRatio = 2
  // Sums of this many pixels do not overflow.
  private static let pixelsBound = 1 << 40

  /// - Parameter pixels: the maximum number of pixels of the image.
  init(_ root: UInt32, in data: HEIFData, pixels: Int) throws(HEIFRefusal) {
    self.data = data
    maxPixels = min(pixels, Self.pixelsBound)
    try visit(root, depth: 0)
  }

  /// Visits an item for each reference to it: a decoder decodes it as often.
  private mutating func visit(_ id: UInt32, depth: Int) throws(HEIFRefusal) {
    visits += 1
    guard visits <= Self.maxVisits, depth <= Self.maxDepth else {
      throw .damaged("its image is derived from too many items")
    }
    guard let item = data.items.items[id] else { throw .damaged("its item \(id) is missing") }
    guard !item.isProtected else { throw .unsupported("its item \(id) is encrypted") }
    if visited.insert(id).inserted {
      try check(item)
      items.append(item)
    }
    switch item.type {
    case "hvc1", "av01": try count(item)
    case "grid", "iovl", "iden":
      if item.type != "iden" { try countCanvas(item) }
      let parts = data.items.referred(from: id, as: "dimg")
      guard !parts.isEmpty else { throw .damaged("its item \(id) of type '\(item.type)' refers to no image") }
      for part in parts { try visit(part, depth: depth + 1) }
    default: throw .unsupported("its image is an item of the unsupported type '\(item.type)'")
    }
  }

  private func check(_ item: HEIFItem) throws(HEIFRefusal) {
    guard let properties = data.items.properties(of: item) else {
      throw .damaged("its item \(item.id) has a missing property")
    }
    for (property, association) in zip(properties, item.properties)
    where association.isEssential && HEIFTreatment.properties[property.type, default: .refused] == .refused {
      throw .unsupported("its image needs the unsupported property '\(property.type)'")
    }
    for reference in data.items.references
    where reference.from == item.id && HEIFTreatment.references[reference.type] == .refused {
      throw .unsupported("its image needs other items by the unsupported reference '\(reference.type)'")
    }
    let stated = HEIFProperties(properties)
    guard let pixels = stated.pixels else { throw .damaged("its item \(item.id) has no size") }
    if pixels > maxPixels { throw .tooManyPixels(stated.size) }
    let configuration: BoxType? = item.type == "hvc1" ? "hvcC" : item.type == "av01" ? "av1C" : nil
    guard let configuration, !properties.contains(where: { $0.type == configuration }) else { return }
    throw .damaged("its item \(item.id) has no '\(configuration)' property, without which it cannot be decoded")
  }

  /// Adds the pixels of an item to the sum of decoded pixels.
  private mutating func count(_ item: HEIFItem) throws(HEIFRefusal) {
    let coded = data.items.properties(of: item).flatMap { HEIFProperties($0).pixels } ?? .max
    codedPixels += min(coded, maxPixels)
    if codedPixels / Self.maxDecodedRatio > maxPixels { throw .tooManyPixels(nil) }
  }

  /// Adds the pixels of the canvas of a grid or an overlay. A decoder allocates it by the item's data, whatever its
  /// property `ispe` states.
  private mutating func countCanvas(_ item: HEIFItem) throws(HEIFRefusal) {
    let canvas = try data.canvasPixels(of: item)
    canvasPixels += min(canvas, maxPixels)
    if canvas > maxPixels || canvasPixels / Self.maxDecodedRatio > maxPixels { throw .tooManyPixels(nil) }
  }
}
