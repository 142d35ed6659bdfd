/// The items that a picture is made of: itself, and where it is derived from others, those, and so on
/// (ISO/IEC 23008-12, 6.6).
struct HEIFTree {
  /// Each once, the picture itself first.
  private(set) var items: [HEIFItem] = []
  private var taken: Set<UInt32> = []
  private var visits = 0
  private var pixels = 0

  private let file: HEIFItems
  private let maxPixels: Int

  // A photo is a grid of pictures, which may be turned first; a thousand tiles make 64 megapixels.
  private static let deepest = 8
  private static let maxVisits = 4096
  // What a decoder is made to do over and above the size of the picture: tiles stand over its edges.
  private static let maxCodedBytes = 2

  /// The properties that a decoder needs.
  static let decoding: Set<BoxType> = ["av1C", "auxC", "clap", "colr", "hvcC", "imir", "irot", "ispe", "pixi"]
  // Essential or not, they change nothing in what is decoded.
  private static let descriptive: Set<BoxType> = ["a1lx", "amve", "cclv", "clli", "mdcv", "pasp", "rloc"]

  /// - Parameter pixels: the most that the picture may have.
  init(_ root: UInt32, in file: HEIFItems, pixels: Int) throws(HEIFRefusal) {
    self.file = file
    // So that sums do not overflow.
    maxPixels = min(pixels, 1 << 40)
    try visit(root, depth: 0)
  }

  /// Takes an item as often as it is referred to: a decoder will decode it as often.
  private mutating func visit(_ id: UInt32, depth: Int) throws(HEIFRefusal) {
    visits += 1
    guard visits <= Self.maxVisits, depth <= Self.deepest else {
      throw .damaged("its picture is put together of more parts than any camera writes")
    }
    guard let item = file.items[id] else { throw .damaged("its item \(id) is missing") }
    guard !item.isProtected else { throw .unsupported("its item \(id) is encrypted") }
    if taken.insert(id).inserted {
      try check(item)
      items.append(item)
    }
    switch item.type {
    case "hvc1", "av01": try count(item)
    case "grid", "iovl", "iden":
      let parts = file.referred(from: id, as: "dimg")
      guard !parts.isEmpty else { throw .damaged("its item \(id), a '\(item.type)', refers to no picture") }
      for part in parts { try visit(part, depth: depth + 1) }
    default: throw .unsupported("its picture is an item of the type '\(item.type)'")
    }
  }

  private func check(_ item: HEIFItem) throws(HEIFRefusal) {
    guard let properties = file.properties(of: item) else {
      throw .damaged("its item \(item.id) has a property that is not there")
    }
    for (property, association) in zip(properties, item.properties)
    where association.isEssential && !Self.decoding.contains(property.type) {
      guard Self.descriptive.contains(property.type) else {
        throw .unsupported("its picture needs the property '\(property.type)', which is not known here")
      }
    }
    guard let pixels = HEIFProperties(properties).pixels else {
      throw .damaged("its item \(item.id) has no size")
    }
    if pixels > maxPixels { throw .tooManyPixels }
    let configuration: BoxType? = item.type == "hvc1" ? "hvcC" : item.type == "av01" ? "av1C" : nil
    guard let configuration, !properties.contains(where: { $0.type == configuration }) else { return }
    throw .damaged("its item \(item.id) has no '\(configuration)' property, without which it cannot be decoded")
  }

  /// Adds up what is to be decoded.
  private mutating func count(_ item: HEIFItem) throws(HEIFRefusal) {
    let coded = file.properties(of: item).flatMap { HEIFProperties($0).pixels } ?? .max
    pixels += min(coded, maxPixels)
    if pixels / Self.maxCodedBytes > maxPixels { throw .tooManyPixels }
  }
}
