/// Writes some items of a HEIF or AVIF to a new file, in which their ids start at 1.
struct HEIFWriter {
  private let items: HEIFItems
  private let data: HEIFData
  private var entries: [(item: HEIFItem, properties: [(number: Int, isEssential: Bool)], range: Range<Int>)] = []
  private var numbers: [UInt32: Int] = [:]
  private var properties: [Box] = []
  private var propertyNumbers: [Int: Int] = [:]
  /// Where the data of items are in the new file, by their extents: encoders write equal tiles once.
  private var ranges: [Extents: Range<Int>] = [:]
  // The data precede `meta`, so that their offsets are known when it is written.
  private var bytes: [UInt8]

  // The offsets in the new file have 32 bits.
  private static let maxBytes = 1 << 31

  private struct Extents: Hashable {
    let constructionMethod: Int
    let ranges: [Range<Int>]
  }

  // Transformations are applied in the order in which they are given, and describe what the properties in front of them say.
  private static let transformations: Set<BoxType> = ["clap", "imir", "irot"]

  private static let fileType: [UInt8] = Self.box("ftyp", Array("mif1\0\0\0\0mif1heicavifmiaf".utf8))

  init(items: HEIFItems, data: HEIFData) {
    self.items = items
    self.data = data
    bytes = Self.fileType + Self.number(0, 4) + Array("mdat".utf8)
    bytes.reserveCapacity(data.file.count)
  }

  /// Adds an item with its data and the properties that a decoder needs; each item is added once.
  ///
  /// - Parameter isUpright: whether its orientation is left out, because the caller turns the image.
  mutating func add(_ item: HEIFItem, isUpright: Bool) throws(HEIFRefusal) {
    guard numbers[item.id] == nil else { return }
    let range = try copyData(of: item)
    var associations = item.properties.filter { association in
      let treatment = HEIFTreatment.properties[items.properties[association.index].type]
      return treatment == .kept || treatment == .applied && !isUpright
    }
    let transforms = associations.filter { Self.transformations.contains(items.properties[$0.index].type) }
    associations.removeAll { Self.transformations.contains(items.properties[$0.index].type) }
    associations += transforms
    entries.append((item, associations.map { (number(ofProperty: $0.index), $0.isEssential) }, range))
    numbers[item.id] = entries.count
  }

  private mutating func copyData(of item: HEIFItem) throws(HEIFRefusal) -> Range<Int> {
    let extents = try data.extents(of: item)
    let key = Extents(constructionMethod: item.constructionMethod, ranges: extents.map { $0.startIndex..<$0.endIndex })
    if let known = ranges[key] { return known }
    let start = bytes.count
    for extent in extents {
      // Items may share some of their bytes, but the copy must not become larger than the file.
      guard extent.count <= min(data.file.count, Self.maxBytes) - (bytes.count - Self.fileType.count - 8) else {
        throw .damaged("its items share their bytes")
      }
      bytes += extent
    }
    ranges[key] = start..<bytes.count
    return start..<bytes.count
  }

  /// The new file.
  consuming func file(primary: UInt32, alpha: UInt32?) -> [UInt8] {
    let mediaData = Self.fileType.count
    bytes.replaceSubrange(mediaData..<mediaData + 4, with: Self.number(bytes.count - mediaData, 4))
    bytes += meta(primary: primary, alpha: alpha)
    return bytes
  }

  /// The `meta` box.
  private func meta(primary: UInt32, alpha: UInt32?) -> [UInt8] {
    let descriptions = entries.enumerated().map { index, entry in
      // All items except the primary item are hidden.
      Self.box(
        "infe",
        [2, 0, 0, entry.item.id == primary ? 0 : 1] + Self.number(index + 1, 2) + [0, 0] + entry.item.type.bytes + [0])
    }
    let locations = entries.enumerated().map { index, entry in
      // An identity has no data, and libheif decodes it only if it has a location, of no extents.
      entry.item.type == "iden"
        ? Self.number(index + 1, 2) + [0, 0, 0, 0]
        : Self.number(index + 1, 2) + [0, 0, 0, 1] + Self.number(entry.range.lowerBound, 4)
          + Self.number(entry.range.count, 4)
    }
    let associations = entries.enumerated().map { index, entry in
      Self.number(index + 1, 2) + [UInt8(entry.properties.count)]
        + entry.properties.flatMap { Self.number($0.number | ($0.isEssential ? 0x8000 : 0), 2) }
    }
    let boxes = [
      Self.box("hdlr", Self.number(0, 8) + Array("pict".utf8) + Self.number(0, 8) + Self.number(0, 5)),
      Self.box("pitm", Self.number(0, 4) + Self.number(numbers[primary] ?? 0, 2)),
      Self.box("iloc", [0, 0, 0, 0, 0x44, 0x00] + Self.number(locations.count, 2) + locations.joined()),
      Self.box("iinf", Self.number(0, 4) + Self.number(entries.count, 2) + descriptions.joined()),
      Self.box("iref", Self.number(0, 4) + references(primary: primary, alpha: alpha).joined()),
      Self.box(
        "iprp",
        Self.box("ipco", properties.flatMap { Self.box($0.type, $0.content) })
          + Self.box("ipma", [0, 0, 0, 1] + Self.number(entries.count, 4) + associations.joined())),
    ]
    return Self.box("meta", Self.number(0, 4) + boxes.joined())
  }

  /// The index of a property in the new `ipco`, from 1.
  private mutating func number(ofProperty index: Int) -> Int {
    if let known = propertyNumbers[index] { return known }
    properties.append(items.properties[index])
    propertyNumbers[index] = properties.count
    return properties.count
  }

  private func references(primary: UInt32, alpha: UInt32?) -> [[UInt8]] {
    func reference(_ type: BoxType, _ from: UInt32, _ to: [UInt32]) -> [UInt8] {
      Self.box(
        type,
        ([from] + to).enumerated().flatMap { index, id in
          (index == 1 ? Self.number(to.count, 2) : []) + Self.number(numbers[id] ?? 0, 2)
        })
    }
    let derived = entries.compactMap { entry -> [UInt8]? in
      let parts = items.referred(from: entry.item.id, as: "dimg")
      return parts.isEmpty || parts.contains { numbers[$0] == nil } ? nil : reference("dimg", entry.item.id, parts)
    }
    guard let alpha else { return derived }
    let premultiplied = items.isPremultiplied(primary, by: alpha) ? [reference("prem", primary, [alpha])] : []
    return derived + [reference("auxl", alpha, [primary])] + premultiplied
  }

  private static func number(_ value: Int, _ count: Int) -> [UInt8] {
    (1...count).map { UInt8(truncatingIfNeeded: value >> (8 * (count - $0))) }
  }

  private static func box(_ type: BoxType, _ content: some Collection<UInt8>) -> [UInt8] {
    number(content.count + 8, 4) + type.bytes + content
  }
}
