/// Scratch memory aligned to 64 bytes, the width of a cache line and of the widest vectors.
package struct AlignedBuffer: ~Copyable {
  /// The alignment in bytes.
  package static let alignment = 64

  /// The first byte, valid while the buffer lives.
  package let base: UnsafeMutableRawPointer
  /// The number of bytes.
  package let count: Int

  /// Allocates `count` bytes, all zero.
  package init(count: Int) {
    base = .allocate(byteCount: count, alignment: Self.alignment)
    base.initializeMemory(as: UInt8.self, repeating: 0, count: count)
    self.count = count
  }

  deinit { base.deallocate() }

  /// The smallest multiple of the alignment that holds `count` bytes.
  package static func aligned(_ count: Int) -> Int {
    (count + alignment - 1) / alignment * alignment
  }
}
