internal import Platform

extension SealedBlob {
  /// At most `count` bytes at an offset, fewer only at the end.
  package func bytes(count: Int, at offset: Int64) throws(BlobError) -> [UInt8] {
    do throws(SystemError) { return try file.bytes(count: count, at: offset) } catch { throw .system(error) }
  }
}
