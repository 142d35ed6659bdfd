/// A number of variable length: the zeros in front of its first one say how many bytes it has (RFC 8794, 4).
struct VariableNumber {
  /// The number of bytes.
  let length: Int
  /// The number with its marker.
  let marked: UInt64

  /// - Parameters:
  ///   - bytes: the bytes of the number, and any behind it.
  ///   - maxLength: the maximum number of bytes, up to 8.
  init(_ bytes: ArraySlice<UInt8>, maxLength: Int) throws(ElementHeader.HeaderError) {
    guard let first = bytes.first else { throw .endsInside }
    length = first.leadingZeroBitCount + 1
    guard length <= maxLength else { throw .invalid }
    guard bytes.count >= length else { throw .endsInside }
    marked = bytes.prefix(length).reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// The number, below 2 to the power of 56.
  var value: UInt64 { marked & maxValue }

  /// Whether all bits are ones: as a size it means that the size is unknown, as an id nothing.
  var isReserved: Bool { value == maxValue }

  private var maxValue: UInt64 { 1 << UInt64(7 * length) - 1 }
}

/// The header of an element (RFC 8794, 5 and 6). Positions are in bytes from the start of the file.
struct ElementHeader: Hashable {
  let id: ElementID
  /// The start of the element.
  let offset: Int64
  /// The start of its content.
  let content: Int64
  /// The end of the element; nil: unknown, as recorders write it that do not go back.
  let end: Int64?

  /// The length of the longest header: an id of four bytes, and a size of eight.
  static let maxBytes = 12

  /// An error in a header.
  enum HeaderError: Error, Hashable {
    /// The bytes end inside the header.
    case endsInside
    /// The id or the size is longer than any of WebM.
    case invalid
  }

  /// - Parameter bytes: the bytes of the file at `offset`, `maxBytes` of them unless it ends before.
  init(_ bytes: ArraySlice<UInt8>, at offset: Int64) throws(HeaderError) {
    let id = try VariableNumber(bytes, maxLength: 4)
    let size = try VariableNumber(bytes.dropFirst(id.length), maxLength: 8)
    guard !id.isReserved else { throw .invalid }
    self.id = ElementID(UInt32(truncatingIfNeeded: id.marked))
    self.offset = offset
    content = offset &+ Int64(id.length + size.length)
    let (end, overflow) = content.addingReportingOverflow(Int64(clamping: size.value))
    self.end = size.isReserved ? nil : overflow ? .max : end
  }

  /// The size of the content; nil: unknown.
  var contentBytes: Int64? { end.map { $0 - content } }
}
