/// A box in memory. Parsing never fails: boxes that do not fit are left out.
struct Box {
  let type: BoxType
  let content: ArraySlice<UInt8>
  /// Whether its size exceeds the available bytes.
  let isCut: Bool

  // More than any valid file has: a photo of 64 megapixels in tiles of 256 samples has a thousand items.
  static let maxChildren = 4096

  init(type: BoxType, content: ArraySlice<UInt8>, isCut: Bool = false) {
    self.type = type
    self.content = content
    self.isCut = isCut
  }

  /// Parses consecutive boxes; a box that is longer than the available bytes is cut.
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

  /// The boxes in its content after a number of bytes.
  func children(after bytes: Int = 0) -> [Box] { Self.list(in: content.dropFirst(bytes)) }

  /// The first child of a type.
  func child(_ type: BoxType) -> Box? { children().first { $0.type == type } }

  /// The descendant at a path of types; each step takes the first child.
  func descendant(_ path: BoxType...) -> Box? {
    path.reduce(self as Box?) { box, type in box?.child(type) }
  }

  /// A reader of its content.
  var reader: BigEndian { BigEndian(content) }
}

/// Reads big-endian numbers at offsets; nil after the end.
struct BigEndian {
  private let bytes: ArraySlice<UInt8>

  init(_ bytes: ArraySlice<UInt8>) { self.bytes = bytes }

  var count: Int { bytes.count }

  func byte(at offset: Int) -> UInt8? { number(at: offset, count: 1).map { UInt8($0) } }
  func unsigned16(at offset: Int) -> UInt16? { number(at: offset, count: 2).map { UInt16($0) } }
  func unsigned32(at offset: Int) -> UInt32? { number(at: offset, count: 4).map { UInt32($0) } }
  func unsigned64(at offset: Int) -> UInt64? { number(at: offset, count: 8) }
  func signed32(at offset: Int) -> Int32? { unsigned32(at: offset).map { Int32(bitPattern: $0) } }

  /// Decodes bytes as UTF-8; invalid sequences become U+FFFD.
  func text(at offset: Int, count: Int) -> String? {
    guard offset >= 0, count >= 0, offset <= bytes.count, count <= bytes.count - offset else { return nil }
    return String(decoding: bytes.dropFirst(offset).prefix(count), as: UTF8.self)
  }

  /// Reads an unsigned number of up to eight bytes; 0 if `count` is 0.
  func number(at offset: Int, count: Int) -> UInt64? {
    guard offset >= 0, bytes.count >= count, offset <= bytes.count - count else { return nil }
    return bytes.dropFirst(offset).prefix(count).reduce(0) { $0 << 8 | UInt64($1) }
  }
}
