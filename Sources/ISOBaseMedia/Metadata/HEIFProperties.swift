/// What the container of a HEIF or AVIF says of its primary picture: its size, and how it is turned
/// (ISO/IEC 23008-12, 6.5.3, 6.5.10 and 6.5.12).
package struct HEIFProperties: Sendable {
  /// One step on the way to an upright picture.
  package enum Step: Hashable, Sendable {
    /// Quarter turns anticlockwise, 1 to 3.
    case turn(Int)
    /// Left and right exchanged, or top and bottom.
    case mirror(isLeftRight: Bool)
  }

  /// In the order in which they are applied; empty where the container says nothing, or nothing sound.
  package private(set) var steps: [Step] = []

  /// How many pixels it has before it is turned; nil where the container does not say.
  package private(set) var pixels: Int?

  /// - Parameter bytes: the whole file.
  package init(_ bytes: [UInt8]) {
    guard let meta = Box.list(in: bytes[...]).first(where: { $0.type == "meta" })?.children(after: 4),
      let primary = meta.first(where: { $0.type == "pitm" }).flatMap({ Self.primary($0.content) }),
      let properties = meta.first(where: { $0.type == "iprp" }), let container = properties.child("ipco")
    else { return }
    let all = container.children()
    for association in properties.children() where association.type == "ipma" {
      for index in Self.indices(of: primary, in: association.content) where all.indices.contains(index - 1) {
        let property = all[index - 1]
        if property.type == "ispe", let width = Self.number(property.content, at: 4, 4),
          let height = Self.number(property.content, at: 8, 4)
        {
          let product = width.multipliedReportingOverflow(by: height)
          pixels = product.overflow ? .max : product.partialValue
        }
        guard let value = property.content.first else { continue }
        if property.type == "irot", value & 3 != 0 { steps.append(.turn(Int(value & 3))) }
        if property.type == "imir" { steps.append(.mirror(isLeftRight: value & 1 == 0)) }
      }
    }
  }

  private static func number(_ bytes: ArraySlice<UInt8>, at offset: Int, _ count: Int) -> Int? {
    let value = bytes.dropFirst(offset).prefix(count)
    return value.count == count ? value.reduce(0) { $0 << 8 | Int($1) } : nil
  }

  private static func primary(_ content: ArraySlice<UInt8>) -> Int? {
    number(content, at: 4, content.first == 0 ? 2 : 4)
  }

  /// The numbers, from 1 on, of the properties of an item.
  private static func indices(of item: Int, in content: ArraySlice<UInt8>) -> [Int] {
    guard let version = content.first, let flags = number(content, at: 3, 1), let count = number(content, at: 4, 4)
    else { return [] }
    var offset = 8
    for _ in 0..<count {
      let width = version < 1 ? 2 : 4
      guard let id = number(content, at: offset, width), let associations = number(content, at: offset + width, 1)
      else { return [] }
      offset += width + 1
      let size = flags & 1 == 1 ? 2 : 1
      if id == item {
        return (0..<associations).compactMap {
          number(content, at: offset + $0 * size, size).map { $0 & (size == 2 ? 0x7FFF : 0x7F) }
        }
      }
      offset += associations * size
    }
    return []
  }
}
