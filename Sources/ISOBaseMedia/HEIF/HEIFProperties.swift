/// What the container of a HEIF or AVIF says of a picture: its size, and how it is turned
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
  private(set) var pixels: Int?

  /// - Parameter properties: of one item, in their order.
  init(_ properties: [Box]) {
    for property in properties {
      let reader = property.reader
      switch property.type {
      case "ispe":
        guard let width = reader.unsigned32(at: 4), let height = reader.unsigned32(at: 8) else { continue }
        pixels = Int(clamping: UInt64(width) * UInt64(height))
      case "irot":
        if let value = reader.byte(at: 0), value & 3 != 0 { steps.append(.turn(Int(value & 3))) }
      case "imir":
        if let value = reader.byte(at: 0) { steps.append(.mirror(isLeftRight: value & 1 == 0)) }
      default: break
      }
    }
  }
}
