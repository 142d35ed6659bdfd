package import Model

/// The reason for which a file is refused, while it arrives or at its end.
package struct StreamRefusal: Error, Sendable, Hashable {
  /// The reason with which the whole file would be rejected, unless its rest has an error that is found before this one. It
  /// has a position in the file.
  package let reason: Reason
  /// The start of the box that shows it, in bytes.
  package let offset: Int64

  init(_ reason: Reason, at offset: Int64) {
    self.reason = Reason(
      reason.code, input: reason.input, detail: reason.detail, seconds: reason.seconds,
      byteOffset: reason.byteOffset ?? offset)
    self.offset = offset
  }
}
