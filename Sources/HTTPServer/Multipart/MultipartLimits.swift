/// What a multipart body may hold.
package struct MultipartLimits: Sendable, Hashable {
  package var parts: Int
  /// Of one part, in bytes.
  package var headerBytes: Int
  /// Of one part, in bytes.
  package var partBytes: Int64

  package init(parts: Int, headerBytes: Int = 8 << 10, partBytes: Int64) {
    self.parts = parts
    self.headerBytes = headerBytes
    self.partBytes = partBytes
  }
}
