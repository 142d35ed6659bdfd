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
