/// What a HEIF or AVIF consists of (ISO/IEC 14496-12, 8.11).
package struct HEIFItems: Sendable {
  /// The types of its items, `av01`, `Exif`, in the order of the file.
  package let types: [String]
  /// By their numbers.
  let items: [UInt32: HEIFItem]
  /// The number of the picture that is shown.
  let primary: UInt32?
  let references: [Reference]
  /// What `ipco` holds.
  let properties: [Box]
  /// The content of `idat`.
  let data: ArraySlice<UInt8>

  /// What one item has to do with others (8.11.12): `dimg`, it is made of them; `auxl`, `cdsc`, it belongs to them.
  struct Reference {
    let type: BoxType
    let from: UInt32
    let to: [UInt32]
  }

  /// Nil where the file has no list of items. `bytes`: the whole file.
  package init?(_ bytes: [UInt8]) {
    guard let meta = Box.list(in: bytes[...]).first(where: { $0.type == "meta" }) else { return nil }
    self.init(meta: meta)
  }

  /// Reads a `meta` box; nil where it has no list of items.
  init?(meta: Box) {
    let boxes = meta.children(after: 4)
    func first(_ type: BoxType) -> Box? { boxes.first { $0.type == type } }
    guard let list = first("iinf") else { return nil }
    // The number of entries has four bytes from version 1 on.
    let entries = list.children(after: list.content.first == 0 ? 6 : 8).filter { $0.type == "infe" }
    types = entries.map { entry in
      let offset = (entry.content.first ?? 0) < 3 ? 8 : 10
      return String(decoding: entry.content.dropFirst(offset).prefix(4), as: UTF8.self)
    }
    var items: [UInt32: HEIFItem] = [:]
    for item in entries.compactMap(HEIFItem.init(entry:)) where items[item.id] == nil { items[item.id] = item }
    if let locations = first("iloc") { items.locate(locations) }
    let properties = first("iprp")?.children() ?? []
    for association in properties where association.type == "ipma" { items.associate(association) }
    self.items = items
    self.properties = properties.first { $0.type == "ipco" }?.children() ?? []
    primary = first("pitm").flatMap { box in
      box.reader.number(at: 4, count: box.content.first == 0 ? 2 : 4).map { UInt32($0) }
    }
    references = first("iref").map(Self.references) ?? []
    data = first("idat")?.content ?? []
  }

  /// The items that an item refers to in this way.
  func referred(from id: UInt32, as type: BoxType) -> [UInt32] {
    references.filter { $0.type == type && $0.from == id }.flatMap(\.to)
  }

  /// The properties of an item in their order; nil where one is named that is not there.
  func properties(of item: HEIFItem) -> [Box]? {
    guard item.properties.allSatisfy({ properties.indices.contains($0.index) }) else { return nil }
    return item.properties.map { properties[$0.index] }
  }

  private static func references(_ box: Box) -> [Reference] {
    let width = box.content.first == 0 ? 2 : 4
    return box.children(after: 4).compactMap { reference in
      let reader = reference.reader
      guard let from = reader.number(at: 0, count: width), let count = reader.unsigned16(at: width),
        reader.count >= width + 2 + Int(count) * width
      else { return nil }
      let to = (0..<Int(count)).compactMap { reader.number(at: width + 2 + $0 * width, count: width) }
      return Reference(type: reference.type, from: UInt32(from), to: to.map { UInt32($0) })
    }
  }
}
