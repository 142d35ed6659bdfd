/// A HEIF or AVIF by hand (ISO/IEC 23008-12): items with their properties and data, and what refers to what. Items are
/// numbered from 1 on.
package struct HEIFFile {
  /// One item.
  package struct Item {
    package var type: String
    /// Whole boxes.
    package var properties: [[UInt8]]
    package var isEssential = false
    package var data: [UInt8]
    /// Lies at another place than its data: an offset in the file and a number of bytes.
    package var place: (offset: Int, count: Int)?
    package var isProtected = false

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
  /// Boxes behind all others.
  package var rest: [UInt8] = []

  package init(_ items: [Item]) { self.items = items }

  /// Takes the coded picture out of a file of one, as libheif writes it: a small HEIC is a grid of one larger tile there.
  package init?(taking picture: [UInt8]) {
    func find(_ type: String, in range: Range<Int>) -> Range<Int>? {
      var offset = range.lowerBound
      while offset + 8 <= range.upperBound {
        let size = picture[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
        guard size >= 8 else { return nil }
        if picture[offset + 4..<offset + 8].elementsEqual(type.utf8) { return offset + 8..<offset + size }
        offset += size
      }
      return nil
    }
    guard let meta = find("meta", in: 0..<picture.count), let data = find("mdat", in: 0..<picture.count),
      let container = find("iprp", in: meta.lowerBound + 4..<meta.upperBound).flatMap({ find("ipco", in: $0) })
    else { return nil }
    let type = find("av1C", in: container) == nil ? "hvc1" : "av01"
    let properties = ["hvcC", "av1C", "ispe", "pixi", "colr"].compactMap { type in
      find(type, in: container).map { box(type, Array(picture[$0])) }
    }
    self.init([Item(type, properties: properties, data: Array(picture[data]))])
    if type == "av01" { brands = ["avif", "mif1", "miaf", "avif"] }
  }

  /// Adds an item and what it refers to; returns its number.
  package mutating func add(_ item: Item, _ references: (type: String, to: [Int])...) -> Int {
    items.append(item)
    self.references += references.map { ($0.type, items.count, $0.to) }
    return items.count
  }

  package var bytes: [UInt8] {
    // All properties once per item: numbers are their places in the list.
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
      var places: [UInt8] = []
      for (index, item) in items.enumerated() {
        let place = item.place ?? (offset, item.data.count)
        places += short(index + 1) + [0, 0, 0, 1] + bigEndian(UInt32(place.offset)) + bigEndian(UInt32(place.count))
        offset += item.data.count
      }
      let handler = box("hdlr", [UInt8](repeating: 0, count: 8), Array("pict".utf8), [UInt8](repeating: 0, count: 13))
      let reference = references.map { box($0.type, short($0.from), short($0.to.count), $0.to.flatMap(short)) }
      return box(
        "meta", [0, 0, 0, 0], handler, box("pitm", [0, 0, 0, 0], short(primary)),
        box("iloc", [0, 0, 0, 0, 0x44, 0], short(items.count), places),
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

/// The property that says how large an item is.
package func extents(_ width: Int, _ height: Int) -> [UInt8] {
  box("ispe", [0, 0, 0, 0], bigEndian(UInt32(width)), bigEndian(UInt32(height)))
}

/// The property that says what an auxiliary item is of.
package func auxiliaryType(_ name: String) -> [UInt8] { box("auxC", [0, 0, 0, 0], Array(name.utf8), [0]) }

/// The data of a grid.
package func grid(rows: Int, columns: Int, width: Int, height: Int) -> [UInt8] {
  [0, 0, UInt8(rows - 1), UInt8(columns - 1)] + short(width) + short(height)
}

private func short(_ value: Int) -> [UInt8] { bigEndian(UInt16(value)) }
