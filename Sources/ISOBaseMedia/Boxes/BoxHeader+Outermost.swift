extension BoxHeader {
  // The files that this program writes have three or four outermost boxes.
  private static let maxOutermost = 8

  /// Reads the headers of the outermost boxes; nil if the boxes do not fill the file to its last byte.
  ///
  /// - Parameters:
  ///   - size: the length of the file in bytes.
  ///   - read: returns `count` bytes at an offset; fewer only at the end of the file.
  static func outermost<Failure: Error>(
    size: Int64, read: (_ offset: Int64, _ count: Int) throws(Failure) -> [UInt8]
  ) throws(Failure) -> [BoxHeader]? {
    var headers: [BoxHeader] = []
    var offset: Int64 = 0
    while offset < size {
      let bytes = try read(offset, 16)
      guard headers.count < maxOutermost, let header = try? BoxHeader(bytes[...], at: offset, limit: size),
        header.end <= size
      else { return nil }
      headers.append(header)
      offset = header.end
    }
    return headers
  }
}
