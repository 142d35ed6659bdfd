/// The items of a HEIF or AVIF (ISO/IEC 14496-12, 8.11).
package struct HEIFItems: Sendable {
  /// The types of the items, `av01`, `Exif`, in the order of the file.
  package let types: [String]
  /// The items by id.
  private(set) var items: [UInt32: HEIFItem]
  /// The id of the primary item.
  let primary: UInt32?
  private(set) var references: [Reference]
  /// The boxes in `ipco`.
  let properties: [Box]
  /// The content of `idat`.
  let data: ArraySlice<UInt8>

  /// A reference from one item to others (8.11.12): `dimg`, it is derived from them; `auxl`, `cdsc`, it describes them.
  struct Reference {
    let type: BoxType
    let from: UInt32
    let to: [UInt32]
  }

  /// Parses an entire file; nil if it has no list of items, or one that is too long.
  package init?(_ bytes: [UInt8]) {
    guard let meta = Box.list(in: bytes[...]).first(where: { $0.type == "meta" }) else { return nil }
    do { try self.init(meta: meta) } catch { return nil }
  }

  /// Parses a `meta` box.
  init(meta: Box) throws(HEIFRefusal) {
    let boxes = try Self.all(meta.children(after: 4))
    func first(_ type: BoxType) -> Box? { boxes.first { $0.type == type } }
    guard let list = first("iinf") else { throw .damaged("it has no list of items") }
    // From version 1 on, the number of entries has four bytes.
    let entries = try Self.all(list.children(after: list.content.first == 0 ? 6 : 8)).filter { $0.type == "infe" }
    types = entries.map { entry in
      let offset = (entry.content.first ?? 0) < 3 ? 8 : 10
      return String(decoding: entry.content.dropFirst(offset).prefix(4), as: UTF8.self)
    }
    var items: [UInt32: HEIFItem] = [:]
    for item in entries.compactMap(HEIFItem.init(entry:)) where items[item.id] == nil { items[item.id] = item }
    if let locations = first("iloc") { items.locate(locations) }
    let properties = try first("iprp").map { (box) throws(HEIFRefusal) in try Self.all(box.children()) } ?? []
    for association in properties where association.type == "ipma" { items.associate(association) }
    self.items = items
    let container = properties.first { $0.type == "ipco" }
    self.properties = try container.map { (box) throws(HEIFRefusal) in try Self.all(box.children()) } ?? []
    primary = first("pitm").flatMap { box in
      box.reader.number(at: 4, count: box.content.first == 0 ? 2 : 4).map { UInt32($0) }
    }
    references = try first("iref").map { (box) throws(HEIFRefusal) in try Self.references(box) } ?? []
    data = first("idat")?.content ?? []
  }

  /// The items to which an item has references of a type.
  func referred(from id: UInt32, as type: BoxType) -> [UInt32] {
    references.filter { $0.type == type && $0.from == id }.flatMap(\.to)
  }

  /// The properties of an item in their order; nil if one is missing.
  func properties(of item: HEIFItem) -> [Box]? {
    guard item.properties.allSatisfy({ properties.indices.contains($0.index) }) else { return nil }
    return item.properties.map { properties[$0.index] }
  }

  /// The boxes of a list.
  static func all(_ list: BoxList) throws(HEIFRefusal) -> [Box] {
    guard let boxes = list.all else { throw .damaged("one of its lists has more than \(BoxList.maxCount) boxes") }
    return boxes
  }

  private static func references(_ box: Box) throws(HEIFRefusal) -> [Reference] {
    let width = box.content.first == 0 ? 2 : 4
    return try all(box.children(after: 4)).compactMap { reference in
      let reader = reference.reader
      guard let from = reader.number(at: 0, count: width), let count = reader.unsigned16(at: width),
        reader.count >= width + 2 + Int(count) * width
      else { return nil }
      let to = (0..<Int(count)).compactMap { reader.number(at: width + 2 + $0 * width, count: width) }
      return Reference(type: reference.type, from: UInt32(from), to: to.map { UInt32($0) })
    }
  }
}

/// The alpha channel of an image, which is an auxiliary image (ISO/IEC 23008-12, 6.4.5 and 6.6.2.1).
extension HEIFItems {
  private static let alphaTypes = ["urn:mpeg:mpegB:cicp:systems:auxiliary:alpha", "urn:mpeg:hevc:2015:auxid:1"]

  /// The alpha channel of an item.
  func alpha(of id: UInt32) -> UInt32? {
    references.first { $0.type == "auxl" && $0.to.contains(id) && isAlpha($0.from) }?.from
  }

  /// Whether the colours of an item are multiplied by its alpha channel already (ISO/IEC 23000-22, 7.3.5.2).
  func isPremultiplied(_ id: UInt32, by alpha: UInt32) -> Bool { referred(from: id, as: "prem").contains(alpha) }

  /// Returns the items with a grid that joins the alpha channels of the tiles, if the primary item is a grid without an alpha channel, and
  /// all of its tiles have one (AOMediaCodec/libavif#1203).
  func joiningAlphaOfTiles() -> HEIFItems {
    guard let primary, let image = items[primary], image.type == "grid", alpha(of: primary) == nil else { return self }
    var alphas: [UInt32: UInt32] = [:]
    for reference in references where reference.type == "auxl" && isAlpha(reference.from) {
      for tile in reference.to where alphas[tile] == nil { alphas[tile] = reference.from }
    }
    let tiles = referred(from: primary, as: "dimg")
    let parts = tiles.compactMap { alphas[$0] }
    guard let first = parts.first, parts.count == tiles.count, let last = items.keys.max(), last < .max else {
      return self
    }
    // Where the canvas is and how it is turned, but not its colours.
    let geometry = image.properties.filter { association in
      properties.indices.contains(association.index)
        && ["ispe", "clap", "irot", "imir"].contains(properties[association.index].type)
    }
    let type = (items[first]?.properties ?? []).filter { properties[$0.index].type == "auxC" }
    var joined = self
    joined.items[last + 1] = image.copy(id: last + 1, properties: geometry + type)
    joined.references.append(Reference(type: "dimg", from: last + 1, to: parts))
    joined.references.append(Reference(type: "auxl", from: last + 1, to: [primary]))
    // Each reference is read once: a file can have many tiles and many references.
    var premultiplied: Set<UInt32> = []
    for reference in references where reference.type == "prem" {
      if let alpha = alphas[reference.from], reference.to.contains(alpha) { premultiplied.insert(reference.from) }
    }
    if tiles.allSatisfy({ premultiplied.contains($0) }) {
      joined.references.append(Reference(type: "prem", from: primary, to: [last + 1]))
    }
    return joined
  }

  private func isAlpha(_ id: UInt32) -> Bool {
    guard let properties = items[id].flatMap(properties) else { return false }
    return properties.contains { box in
      guard box.type == "auxC" else { return false }
      let type = box.content.dropFirst(4).prefix { $0 != 0 }
      return Self.alphaTypes.contains { type.elementsEqual($0.utf8) }
    }
  }
}

/// Reads the data of the items of a HEIF or AVIF.
struct HEIFData {
  let file: ArraySlice<UInt8>
  let items: HEIFItems

  /// The data of an item, one slice for each extent.
  func extents(of item: HEIFItem) throws(HEIFRefusal) -> [ArraySlice<UInt8>] {
    // An identity has no data (ISO/IEC 23008-12, 6.6.2.1).
    if item.type == "iden" { return [] }
    guard item.constructionMethod <= 1 else {
      throw .unsupported("its item \(item.id) consists of parts of other items")
    }
    guard let extents = item.extents else { throw .damaged("its item \(item.id) has no valid location") }
    let container = item.constructionMethod == 0 ? file : items.data
    var slices: [ArraySlice<UInt8>] = []
    for extent in extents {
      let (end, overflow) = extent.offset.addingReportingOverflow(extent.count)
      guard !overflow, end <= UInt64(container.count) else {
        throw item.constructionMethod == 0
          ? .truncated("its item \(item.id) lies after the end of the file")
          : .damaged("its item \(item.id) lies after the end of its box")
      }
      slices.append(container.dropFirst(Int(extent.offset)).prefix(Int(extent.count)))
    }
    return slices
  }

  /// The pixels of the canvas of a grid or an overlay (ISO/IEC 23008-12, 6.6.2); 0 if its data are too short.
  func canvasPixels(of item: HEIFItem) throws(HEIFRefusal) -> Int {
    let reader = BigEndian(Array(try extents(of: item).joined().prefix(18))[...])
    // Rows and columns of a grid, or the colour of an overlay, precede the size; a flag gives it 32 bits.
    let offset = item.type == "grid" ? 4 : 10
    let width = reader.byte(at: 1).map { $0 & 1 == 1 ? 4 : 2 } ?? 2
    guard let columns = reader.number(at: offset, count: width),
      let rows = reader.number(at: offset + width, count: width)
    else { return 0 }
    return Int(clamping: columns * rows)
  }

  /// The Exif data of an image from the byte order mark on; empty if they are missing or invalid.
  func exif(of image: UInt32) -> ArraySlice<UInt8> {
    let described = items.references.filter { $0.type == "cdsc" && $0.to.contains(image) }
    guard let item = described.lazy.compactMap({ items.items[$0.from] }).first(where: { $0.type == "Exif" }),
      let extents = try? extents(of: item), let first = extents.first
    else { return [] }
    // Cameras write one extent.
    let block = extents.count == 1 ? first : extents.reduce(into: []) { if $0.count <= file.count { $0 += $1 } }
    // The block starts with the distance from its fifth byte to the byte order mark (ISO/IEC 23008-12, A.2.1).
    guard let distance = BigEndian(block).unsigned32(at: 0) else { return [] }
    return block.dropFirst(4).dropFirst(Int(distance))
  }
}
