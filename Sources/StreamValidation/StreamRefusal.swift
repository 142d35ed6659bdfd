package import Model

/// The reason for which a file is refused before all of it has arrived.
package struct StreamRefusal: Error, Sendable, Hashable {
  /// The reason with which the whole file would be rejected, unless its rest has an error that is found before this one. It
  /// has a position in the file.
  package let reason: Reason
  /// The start of the box, the marker or the chunk that shows it, in bytes.
  package let offset: Int64

  init(_ reason: Reason, at offset: Int64) {
    self.reason = Reason(
      reason.code, input: reason.input, detail: reason.detail, seconds: reason.seconds,
      byteOffset: reason.byteOffset ?? offset)
    self.offset = offset
  }
}

/// A parser of one format that takes the bytes of a file as they arrive.
///
/// What it finds depends on the bytes alone, not on how they are divided.
protocol FormatWalk: Sendable {
  /// The offset of the next byte that it reads.
  var nextOffset: Int64 { get }

  /// Takes the bytes at an offset, which follow those before, or begin at `nextOffset` at the latest.
  mutating func take(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(StreamRefusal)

  /// Ends a file of this many bytes.
  mutating func finish(at size: Int64) throws(StreamRefusal)
}
