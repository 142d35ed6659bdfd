/// A box in memory: its type and its content. Reading it never fails: what does not fit is left out.
struct Box {
  let type: BoxType
  let content: ArraySlice<UInt8>
  /// Whether it says that it is longer than its place.
  let isCut: Bool

  // More than any file that means something: a photo of 64 megapixels in tiles of 256 samples has a thousand items.
  private static let maxChildren = 4096

  init(type: BoxType, content: ArraySlice<UInt8>, isCut: Bool = false) {
    self.type = type
    self.content = content
    self.isCut = isCut
  }

  /// The boxes that lie side by side in some bytes; a box that is longer than its place is cut.
  static func list(in bytes: ArraySlice<UInt8>) -> [Box] {
    var boxes: [Box] = []
    var rest = bytes
    while rest.count >= 8, boxes.count < maxChildren {
      let reader = BigEndian(rest)
      var header = 8
      var size = Int(reader.unsigned32(at: 0) ?? 0)
      if size == 1 {
        guard let large = reader.unsigned64(at: 8), let exact = Int(exactly: large) else { break }
        (header, size) = (16, exact)
      }
      if size == 0 { size = rest.count }
      guard size >= header, let code = reader.unsigned32(at: 4) else { break }
      boxes.append(
        Box(type: BoxType(code: code), content: rest.prefix(size).dropFirst(header), isCut: size > rest.count))
      rest = rest.dropFirst(size)
    }
    return boxes
  }

  /// The boxes in it, behind some bytes of its own.
  func children(after bytes: Int = 0) -> [Box] { Self.list(in: content.dropFirst(bytes)) }

  /// The first box of a type in it.
  func child(_ type: BoxType) -> Box? { children().first { $0.type == type } }

  /// The first box at the end of a path of types.
  func descendant(_ path: BoxType...) -> Box? {
    path.reduce(self as Box?) { box, type in box?.child(type) }
  }

  /// Its content, to be read by position.
  var reader: BigEndian { BigEndian(content) }
}
