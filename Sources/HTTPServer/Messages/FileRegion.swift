package import Platform

/// Some bytes of an open file, which stays open as long as this lives, even when it is unlinked meanwhile.
package final class FileRegion: Sendable {
  let descriptor: Descriptor
  /// Where it starts, in bytes.
  package let offset: Int64
  /// How long it is, in bytes.
  package let count: Int64

  /// Takes the file over; the region lies within it.
  package init(_ descriptor: consuming Descriptor, offset: Int64, count: Int64) {
    self.descriptor = descriptor
    self.offset = offset
    self.count = count
  }

  /// A part of it, counted from its start, on a descriptor of its own.
  package func part(_ range: Range<Int64>) throws(SystemError) -> FileRegion {
    FileRegion(try descriptor.duplicate(), offset: offset + range.lowerBound, count: Int64(range.count))
  }
}
