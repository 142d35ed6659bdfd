/// A HEIF or AVIF file (ISO/IEC 23008-12) with items, their properties and data, and the references between them. Item
/// ids start at 1.
package struct HEIFFile {
  package struct Item {
    package var type: String
    /// The properties, each as a complete box.
    package var properties: [[UInt8]]
    package var isEssential = false
    package var data: [UInt8]
    /// The extent in the item location box, if it differs from that of the data.
    package var extent: (offset: Int, count: Int)?
    package var isProtected = false
    /// Whether the item location box lists it.
    package var isLocated = true

    package init(_ type: String, properties: [[UInt8]] = [], data: [UInt8] = []) {
      self.type = type
      self.properties = properties
      self.data = data
    }
  }

  package var brands = ["heic", "mif1", "heic"]
  package var items: [Item]
  package var references: [(type: String, from: Int, to: [Int])] = []
  package var primary = 1
  /// The data reference of all items, the entry of a `dref` box; nil: their data are in the file.
  package var dataReference: [UInt8]?
  /// Further boxes at the end of the file.
  package var rest: [UInt8] = []

  package init(_ items: [Item]) { self.items = items }

  /// Extracts the coded image from a file of libheif, which writes a small HEIC image as a grid of one larger tile.
  package init?(extractingFrom file: [UInt8]) {
    func find(_ type: String, in range: Range<Int>) -> Range<Int>? {
      var offset = range.lowerBound
      while offset + 8 <= range.upperBound {
        let size = file[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
        guard size >= 8 else { return nil }
        if file[offset + 4..<offset + 8].elementsEqual(type.utf8) { return offset + 8..<offset + size }
        offset += size
      }
      return nil
    }
    guard let meta = find("meta", in: 0..<file.count), let data = find("mdat", in: 0..<file.count),
      let container = find("iprp", in: meta.lowerBound + 4..<meta.upperBound).flatMap({ find("ipco", in: $0) })
    else { return nil }
    let type = find("av1C", in: container) == nil ? "hvc1" : "av01"
    let properties = ["hvcC", "av1C", "ispe", "pixi", "colr"].compactMap { type in
      find(type, in: container).map { box(type, Array(file[$0])) }
    }
    self.init([Item(type, properties: properties, data: Array(file[data]))])
    if type == "av01" { brands = ["avif", "mif1", "miaf", "avif"] }
  }

  /// Adds an item and its references. Returns its id.
  package mutating func add(_ item: Item, _ references: (type: String, to: [Int])...) -> Int {
    items.append(item)
    self.references += references.map { ($0.type, items.count, $0.to) }
    return items.count
  }

  package var bytes: [UInt8] {
    // Every item has properties of its own; the associations contain their indices in the list, from 1 on.
    var properties: [[UInt8]] = []
    var associations: [UInt8] = []
    for (index, item) in items.enumerated() {
      associations += short(index + 1) + [UInt8(item.properties.count)]
      for property in item.properties {
        properties.append(property)
        associations += short(properties.count | (item.isEssential ? 0x8000 : 0))
      }
    }
    let information = items.enumerated().map { index, item in
      box("infe", [2, 0, 0, 0] + short(index + 1) + short(item.isProtected ? 1 : 0) + Array(item.type.utf8) + [0])
    }
    let start = box("ftyp", Array(brands[0].utf8), [0, 0, 0, 0], brands.dropFirst().flatMap { Array($0.utf8) })
    func meta(dataOffset: Int) -> [UInt8] {
      var offset = dataOffset
      var locations: [UInt8] = []
      for (index, item) in items.enumerated() {
        let extent = items[index].extent ?? (offset, item.data.count)
        guard item.isLocated else { continue }
        let reference = dataReference == nil ? 0 : 1
        locations +=
          short(index + 1) + short(reference) + [0, 1] + bigEndian(UInt32(extent.offset))
          + bigEndian(UInt32(extent.count))
        offset += item.data.count
      }
      let handler = box("hdlr", [UInt8](repeating: 0, count: 8), Array("pict".utf8), [UInt8](repeating: 0, count: 13))
      let reference = references.map { box($0.type, short($0.from), short($0.to.count), $0.to.flatMap(short)) }
      return box(
        "meta", [0, 0, 0, 0], handler, box("pitm", [0, 0, 0, 0], short(primary)),
        dataReference.map { box("dinf", dataReferences($0)) } ?? [],
        box("iloc", [0, 0, 0, 0, 0x44, 0], short(items.count { $0.isLocated }), locations),
        box("iinf", [0, 0, 0, 0], short(items.count), Array(information.joined())),
        box("iref", [0, 0, 0, 0], Array(reference.joined())),
        box(
          "iprp", box("ipco", Array(properties.joined())),
          box("ipma", [0, 0, 0, 1], bigEndian(UInt32(items.count)), associations)))
    }
    let dataOffset = start.count + meta(dataOffset: 0).count + 8
    return start + meta(dataOffset: dataOffset) + box("mdat", Array(items.map(\.data).joined())) + rest
  }
}

/// Returns the property with the size of an item.
package func extents(_ width: Int, _ height: Int) -> [UInt8] {
  box("ispe", [0, 0, 0, 0], bigEndian(UInt32(width)), bigEndian(UInt32(height)))
}

/// Returns the property with the type of an auxiliary item.
package func auxiliaryType(_ name: String) -> [UInt8] { box("auxC", [0, 0, 0, 0], Array(name.utf8), [0]) }

/// Returns the data of a grid item.
package func grid(rows: Int, columns: Int, width: Int, height: Int) -> [UInt8] {
  [0, 0, UInt8(rows - 1), UInt8(columns - 1)] + short(width) + short(height)
}

private func short(_ value: Int) -> [UInt8] { bigEndian(UInt16(value)) }
