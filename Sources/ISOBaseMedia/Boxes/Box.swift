/// A box in memory. Parsing never fails: boxes that do not fit are left out.
struct Box {
  let type: BoxType
  let content: ArraySlice<UInt8>
  /// Whether its size exceeds the available bytes.
  let isCut: Bool

  init(type: BoxType, content: ArraySlice<UInt8>, isCut: Bool = false) {
    self.type = type
    self.content = content
    self.isCut = isCut
  }

  /// The consecutive boxes in bytes; a box that is longer than the available bytes is cut.
  static func list(in bytes: ArraySlice<UInt8>) -> BoxList { BoxList(bytes) }

  /// The boxes in its content after a number of bytes.
  func children(after bytes: Int = 0) -> BoxList { Self.list(in: content.dropFirst(bytes)) }

  /// The first child of a type.
  func child(_ type: BoxType) -> Box? { children().first { $0.type == type } }

  /// The descendant at a path of types; each step takes the first child.
  func descendant(_ path: BoxType...) -> Box? {
    path.reduce(self as Box?) { box, type in box?.child(type) }
  }

  /// A reader of its content.
  var reader: BigEndian { BigEndian(content) }
}
