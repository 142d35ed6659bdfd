/// The bytes that a parser has asked for, gathered from the pieces in which they arrive.
struct RequestedBytes: Sendable {
  private var start: Int64 = 0
  private var bytes: [UInt8] = []

  /// Returns requested bytes; nil before all of them have arrived.
  ///
  /// - Parameters:
  ///   - offset: never before the offset of an earlier request.
  ///   - piece: the bytes that arrive, which are gathered as far as they are requested.
  mutating func gather(
    _ count: Int, at offset: Int64, from piece: UnsafeRawBufferPointer, at pieceOffset: Int64
  ) -> ArraySlice<UInt8>? {
    move(to: offset)
    if bytes.count < count {
      let first = start + Int64(bytes.count) - pieceOffset
      guard first < piece.count else { return nil }
      let index = Int(first)
      bytes += piece[index..<index + min(count - bytes.count, piece.count - index)]
    }
    return bytes.count < count ? nil : bytes.prefix(count)
  }

  /// The bytes from an offset on that are there.
  mutating func rest(_ count: Int, at offset: Int64) -> ArraySlice<UInt8> {
    move(to: offset)
    return bytes.prefix(count)
  }

  /// The bytes from an offset on that are there, and stay.
  func held(from offset: Int64) -> ArraySlice<UInt8> {
    bytes.dropFirst(Int(clamping: offset - start))
  }

  private mutating func move(to offset: Int64) {
    if offset >= start + Int64(bytes.count) {
      bytes.removeAll(keepingCapacity: bytes.count < 1024)
    } else if offset > start {
      bytes.removeFirst(Int(offset - start))
    }
    start = offset
  }
}
