/// An item of a HEIF or AVIF, as its `meta` box describes it (ISO/IEC 14496-12, 8.11).
struct HEIFItem {
  fileprivate(set) var id: UInt32
  /// `hvc1`, `grid`, `Exif`.
  let type: BoxType
  let isProtected: Bool
  /// The location of the data: 0, in the file; 1, in the box `idat`.
  fileprivate(set) var constructionMethod = 0
  /// Nil if `iloc` has no valid location.
  fileprivate(set) var extents: [Extent]?
  /// The properties in their order, by their index in `ipco` from 0.
  fileprivate(set) var properties: [Association] = []

  // Cameras write one extent and about a dozen properties for an item.
  fileprivate static let maxExtents = 1 << 14
  fileprivate static let maxProperties = 255

  /// A range of bytes.
  struct Extent {
    let offset: UInt64
    let count: UInt64
  }

  /// A property; a reader that does not support an essential property must not decode the item.
  struct Association {
    let index: Int
    let isEssential: Bool
  }

  /// Parses an entry of `iinf`; nil for versions without an item type.
  init?(entry: Box) {
    let reader = entry.reader
    guard let version = reader.byte(at: 0), version == 2 || version == 3 else { return nil }
    let width = version == 2 ? 2 : 4
    guard let id = reader.number(at: 4, count: width), let protection = reader.unsigned16(at: 4 + width),
      let type = reader.unsigned32(at: 6 + width)
    else { return nil }
    self.id = UInt32(id)
    self.type = BoxType(code: type)
    isProtected = protection != 0
  }
}

extension HEIFItem {
  /// Returns an item with the type and the data of this one.
  func copy(id: UInt32, properties: [Association]) -> HEIFItem {
    var copy = self
    copy.id = id
    copy.properties = properties
    return copy
  }
}

extension [UInt32: HEIFItem] {
  /// Adds the locations of `iloc` (8.11.3); an item with an invalid location stays without one.
  mutating func locate(_ box: Box) {
    let reader = box.reader
    guard let version = reader.byte(at: 0), version <= 2, let sizes = reader.unsigned16(at: 4) else { return }
    let (offsetSize, lengthSize) = (Int(sizes >> 12), Int(sizes >> 8 & 15))
    let (baseSize, indexSize) = (Int(sizes >> 4 & 15), version == 0 ? 0 : Int(sizes & 15))
    guard [offsetSize, lengthSize, baseSize, indexSize].allSatisfy([0, 4, 8].contains) else { return }
    let width = version < 2 ? 2 : 4
    guard let count = reader.number(at: 6, count: width) else { return }
    var offset = 6 + width
    var extentCount = 0
    for _ in 0..<count {
      guard let id = reader.number(at: offset, count: width) else { return }
      offset += width
      var method = 0
      if version > 0 {
        guard let bits = reader.unsigned16(at: offset) else { return }
        (method, offset) = (Int(bits & 15), offset + 2)
      }
      // The data reference index, which would name another file.
      offset += 2
      guard let base = reader.number(at: offset, count: baseSize),
        let number = reader.unsigned16(at: offset + baseSize)
      else { return }
      offset += baseSize + 2
      extentCount += Int(number)
      guard extentCount <= HEIFItem.maxExtents else { return }
      var extents: [HEIFItem.Extent] = []
      for _ in 0..<number {
        guard let start = reader.number(at: offset + indexSize, count: offsetSize),
          let length = reader.number(at: offset + indexSize + offsetSize, count: lengthSize)
        else { return }
        let (sum, overflow) = base.addingReportingOverflow(start)
        extents.append(HEIFItem.Extent(offset: overflow ? .max : sum, count: length))
        offset += indexSize + offsetSize + lengthSize
      }
      self[UInt32(id)]?.constructionMethod = method
      self[UInt32(id)]?.extents = extents
    }
  }

  /// Adds the properties of `ipma` (ISO/IEC 23008-12, 9.3).
  mutating func associate(_ box: Box) {
    let reader = box.reader
    guard let version = reader.byte(at: 0), let flags = reader.byte(at: 3), let count = reader.unsigned32(at: 4) else {
      return
    }
    let (width, size) = (version < 1 ? 2 : 4, flags & 1 == 1 ? 2 : 1)
    let essential: UInt64 = size == 2 ? 0x8000 : 0x80
    var offset = 8
    for _ in 0..<count {
      guard let id = reader.number(at: offset, count: width), let number = reader.byte(at: offset + width) else {
        return
      }
      offset += width + 1
      for _ in 0..<number {
        guard let value = reader.number(at: offset, count: size) else { return }
        offset += size
        let index = Int(value & (essential - 1))
        // 0 means no property.
        guard index > 0, self[UInt32(id)]?.properties.count ?? .max < HEIFItem.maxProperties else { continue }
        self[UInt32(id)]?.properties.append(
          HEIFItem.Association(index: index - 1, isEssential: value & essential != 0))
      }
    }
  }
}
