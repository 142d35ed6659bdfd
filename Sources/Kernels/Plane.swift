internal import CKernels

/// A read-only view of one 8-bit component of an image, in memory that the caller owns.
package struct Plane {
  /// The first byte of the top row.
  package let base: UnsafeRawPointer
  /// The distance in bytes between rows.
  package let stride: Int
  /// The number of bytes in a row.
  package let width: Int
  /// The number of rows.
  package let height: Int

  package init(base: UnsafeRawPointer, stride: Int, width: Int, height: Int) {
    self.base = base
    self.stride = stride
    self.width = width
    self.height = height
  }

  /// The byte in column `x` of row `y`.
  package subscript(x: Int, y: Int) -> UInt8 {
    precondition(0..<width ~= x && 0..<height ~= y, "outside the plane")
    return base.load(fromByteOffset: y * stride + x, as: UInt8.self)
  }

  /// Returns a rectangle of this plane, in the same memory.
  package func region(x: Int, y: Int, width: Int, height: Int) -> Plane {
    precondition(
      x >= 0 && y >= 0 && width >= 0 && height >= 0 && x + width <= self.width && y + height <= self.height,
      "outside the plane")
    return Plane(base: base + y * stride + x, stride: stride, width: width, height: height)
  }
}

/// A writable view of one 8-bit component of an image, in memory that the caller owns.
package struct MutablePlane {
  /// The first byte of the top row.
  package let base: UnsafeMutableRawPointer
  /// The distance in bytes between rows.
  package let stride: Int
  /// The number of bytes in a row.
  package let width: Int
  /// The number of rows.
  package let height: Int

  package init(base: UnsafeMutableRawPointer, stride: Int, width: Int, height: Int) {
    self.base = base
    self.stride = stride
    self.width = width
    self.height = height
  }

  /// A read-only view of the same memory.
  package var reading: Plane { Plane(base: base, stride: stride, width: width, height: height) }

  /// The byte in column `x` of row `y`.
  package subscript(x: Int, y: Int) -> UInt8 {
    get { reading[x, y] }
    nonmutating set {
      precondition(0..<width ~= x && 0..<height ~= y, "outside the plane")
      base.storeBytes(of: newValue, toByteOffset: y * stride + x, as: UInt8.self)
    }
  }

  /// Returns a rectangle of this plane, in the same memory.
  package func region(x: Int, y: Int, width: Int, height: Int) -> MutablePlane {
    let region = reading.region(x: x, y: y, width: width, height: height)
    return MutablePlane(base: base + y * stride + x, stride: stride, width: region.width, height: region.height)
  }

  /// Sets every byte to `value`.
  package func fill(with value: UInt8) {
    ckernels_fill(bytes(base), stride, width, height, value)
  }

  /// Copies a plane of the same size.
  package func copy(from source: Plane) {
    precondition(source.width == width && source.height == height, "planes differ in size")
    ckernels_copy(bytes(source.base), source.stride, bytes(base), stride, width, height)
  }

  /// Copies a plane of twice the width and height; each byte is the rounded mean of four.
  ///
  /// - Parameter portable: whether to use no instructions that only some processors have. The result is the same.
  package func copy(halving source: Plane, portable: Bool = false) {
    precondition(source.width == width * 2 && source.height == height * 2, "the source is not twice as large")
    ckernels_halve(bytes(source.base), source.stride, bytes(base), stride, width, height, portable ? 1 : 0)
  }

  /// Copies a plane that is `side` times as wide and high; each byte is the rounded mean of a square.
  package func copy(meansOf source: Plane, side: Int) {
    precondition(1...256 ~= side, "the side of a mean is not 1 to 256")
    precondition(
      source.width == width * side && source.height == height * side, "the source is not \(side) times as large")
    let status = ckernels_mean(bytes(source.base), source.stride, bytes(base), stride, width, height, side)
    precondition(status == 0, "out of memory for a row")
  }

  /// Copies a plane of one and a half times the width and height, through a low-pass filter with four taps.
  ///
  /// - Parameter portable: whether to use no instructions that only some processors have. The result is the same.
  package func copy(twoThirdsOf source: Plane, portable: Bool = false) {
    precondition(width % 2 == 0 && height % 2 == 0, "the target does not have an even size")
    precondition(
      source.width * 2 == width * 3 && source.height * 2 == height * 3, "the source is not 1.5 times as large")
    guard width > 0 && height > 0 else { return }
    let status = ckernels_two_thirds(
      bytes(source.base), source.stride, bytes(base), stride, width, height, portable ? 1 : 0)
    precondition(status == 0, "out of memory for a row")
  }

  /// Copies a transformed plane. This plane must have the size that `orientation` gives the source.
  package func copy(from source: Plane, orientation: Orientation) {
    let size = orientation.size(width: source.width, height: source.height)
    precondition(size.width == width && size.height == height, "the target does not have the transformed size")
    guard width > 0 && height > 0 else { return }
    switch orientation {
    case .upright: copy(from: source)
    case .mirrored:
      ckernels_copy_mirrored(bytes(source.base), source.stride, bytes(base), stride, width, height)
    case .rotated180:
      let bottom = source.base + (source.height - 1) * source.stride
      ckernels_copy_mirrored(bytes(bottom), -source.stride, bytes(base), stride, width, height)
    case .mirroredRotated180:
      let bottom = source.base + (source.height - 1) * source.stride
      ckernels_copy(bytes(bottom), -source.stride, bytes(base), stride, width, height)
    case .rotated90, .rotated270, .mirroredRotated90, .mirroredRotated270:
      transpose(source, orientation)
    }
  }

  /// Draws a plane of the same size over this one, with corners rounded by `mask`.
  package func draw(_ source: Plane, corners mask: CornerMask) {
    precondition(source.width == width && source.height == height, "planes differ in size")
    precondition(2 * mask.side <= width && 2 * mask.side <= height, "the corners overlap")
    mask.coverage.withUnsafeBufferPointer { coverage in
      ckernels_draw_rounded(
        bytes(source.base), source.stride, bytes(base), stride, width, height, coverage.baseAddress, mask.side)
    }
  }

  /// Rotates by 90 or 270 degrees: a transposition that reads the source, or writes the target, from its last row up.
  private func transpose(_ source: Plane, _ orientation: Orientation) {
    let readsUpwards = orientation == .rotated90 || orientation == .mirroredRotated90
    let writesUpwards = orientation == .rotated270 || orientation == .mirroredRotated90
    let first = source.base + (readsUpwards ? (source.height - 1) * source.stride : 0)
    let target = base + (writesUpwards ? (height - 1) * stride : 0)
    ckernels_transpose(
      bytes(first), readsUpwards ? -source.stride : source.stride,
      bytes(target), writesUpwards ? -stride : stride, source.width, source.height)
  }

  private func bytes(_ pointer: UnsafeRawPointer) -> UnsafePointer<UInt8> {
    pointer.assumingMemoryBound(to: UInt8.self)
  }

  private func bytes(_ pointer: UnsafeMutableRawPointer) -> UnsafeMutablePointer<UInt8> {
    pointer.assumingMemoryBound(to: UInt8.self)
  }
}

/// Memory aligned to 64 bytes, the size of a cache line and of the widest vectors.
package struct AlignedBuffer: ~Copyable {
  /// The alignment in bytes.
  package static let alignment = 64

  /// The first byte, valid while the buffer lives.
  package let base: UnsafeMutableRawPointer
  /// The number of bytes.
  package let count: Int

  /// Allocates `count` zero bytes.
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
