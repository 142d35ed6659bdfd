/// An element in memory.
struct Element {
  let id: ElementID
  let content: ArraySlice<UInt8>

  // The parser reads only some elements; a track has about twenty.
  private static let maxChildren = 4096

  /// The elements that fill some bytes; nil if they do not fill them, or are too many.
  static func list(in bytes: ArraySlice<UInt8>) -> [Element]? {
    var elements: [Element] = []
    var rest = bytes
    while !rest.isEmpty {
      let header: ElementHeader
      do throws(ElementHeader.HeaderError) { header = try ElementHeader(rest, at: 0) } catch { return nil }
      guard elements.count < maxChildren, let end = header.end, end <= Int64(rest.count) else { return nil }
      elements.append(
        Element(id: header.id, content: rest.prefix(Int(clamping: end)).dropFirst(Int(clamping: header.content))))
      rest = rest.dropFirst(Int(clamping: end))
    }
    return elements
  }

  /// The elements in its content; nil as above.
  var children: [Element]? { Self.list(in: content) }

  /// Its content as an unsigned number (RFC 8794, 7.2); nil if it is longer than eight bytes.
  var unsigned: UInt64? { content.count <= 8 ? content.reduce(0) { $0 << 8 | UInt64($1) } : nil }

  /// Its content as text of at most this many bytes, up to the first zero.
  func text(upTo bytes: Int) -> String {
    String(decoding: content.prefix(bytes).prefix { $0 != 0 }, as: UTF8.self)
  }
}

extension [Element] {
  /// The first element with an id.
  func first(_ id: ElementID) -> Element? { first { $0.id == id } }
}
