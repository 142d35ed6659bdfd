/// The start of a box: its type and where it and its content lie (ISO/IEC 14496-12, 4.2.2).
struct BoxHeader: Hashable {
  let type: BoxType
  /// Where the box begins, in bytes from the start of the file.
  let offset: Int64
  /// Where its content begins.
  let content: Int64
  /// Where it ends, which may lie past the end of what holds it.
  let end: Int64

  /// Reads a header; a size of 0 reaches to `limit`.
  ///
  /// - Parameters:
  ///   - bytes: up to 16 bytes of the file at `offset`.
  ///   - limit: where the file, or the box around, ends.
  init(_ bytes: ArraySlice<UInt8>, at offset: Int64, limit: Int64) throws(Flaw) {
    guard let short = Self.integer(bytes.prefix(4), count: 4),
      let code = Self.integer(bytes.dropFirst(4).prefix(4), count: 4)
    else { throw .endsInside }
    type = BoxType(code: UInt32(code))
    self.offset = offset
    let headerBytes: Int64 = short == 1 ? 16 : 8
    content = offset + headerBytes
    if short == 0 {
      end = limit
      return
    }
    var size = short
    if short == 1 {
      guard let long = Self.integer(bytes.dropFirst(8).prefix(8), count: 8) else { throw .endsInside }
      size = long
    }
    guard size >= UInt64(headerBytes) else { throw .impossibleSize(size) }
    let (end, overflow) = offset.addingReportingOverflow(Int64(clamping: size))
    self.end = overflow ? .max : end
  }

  /// What can be wrong with a header.
  enum Flaw: Error, Hashable {
    /// The file ends in the middle of it.
    case endsInside
    /// The box claims to be shorter than its own header.
    case impossibleSize(UInt64)
  }

  private static func integer(_ bytes: ArraySlice<UInt8>, count: Int) -> UInt64? {
    guard bytes.count == count else { return nil }
    return bytes.reduce(0) { $0 << 8 | UInt64($1) }
  }
}
