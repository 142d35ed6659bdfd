internal import CKernels

/// Rows of bytes that somebody else owns: one 8-bit component of a picture, to be written.
package struct MutablePlane {
  /// The first byte of the top row.
  package let base: UnsafeMutableRawPointer
  /// Bytes from one row to the next.
  package let stride: Int
  /// Bytes in a row.
  package let width: Int
  /// The number of rows.
  package let height: Int

  package init(base: UnsafeMutableRawPointer, stride: Int, width: Int, height: Int) {
    self.base = base
    self.stride = stride
    self.width = width
    self.height = height
  }

  /// The same memory, to be read.
  package var reading: Plane { Plane(base: base, stride: stride, width: width, height: height) }

  /// The byte in column `x` of row `y`.
  package subscript(x: Int, y: Int) -> UInt8 {
    get { reading[x, y] }
    nonmutating set {
      precondition(0..<width ~= x && 0..<height ~= y, "outside the plane")
      base.storeBytes(of: newValue, toByteOffset: y * stride + x, as: UInt8.self)
    }
  }

  /// A rectangle of this plane, in the same memory.
  package func region(x: Int, y: Int, width: Int, height: Int) -> MutablePlane {
    let region = reading.region(x: x, y: y, width: width, height: height)
    return MutablePlane(base: base + y * stride + x, stride: stride, width: region.width, height: region.height)
  }

  /// Sets every byte to `value`.
  package func fill(with value: UInt8) {
    ckernels_fill(bytes(base), stride, width, height, value)
  }

  /// Takes the bytes of a plane of the same size.
  package func copy(from source: Plane) {
    precondition(source.width == width && source.height == height, "planes differ in size")
    ckernels_copy(bytes(source.base), source.stride, bytes(base), stride, width, height)
  }

  /// Takes the bytes of a plane of twice the width and height, each the rounded mean of four.
  package func copy(halving source: Plane) {
    precondition(source.width == width * 2 && source.height == height * 2, "the source is not twice as large")
    ckernels_halve(bytes(source.base), source.stride, bytes(base), stride, width, height)
  }

  /// Takes the bytes of a plane that is larger by a whole number, each the rounded mean of a square of them.
  package func copy(meansOf source: Plane, side: Int) {
    precondition(1...256 ~= side, "a mean is taken of 1 to 256 times as many")
    precondition(
      source.width == width * side && source.height == height * side, "the source is not \(side) times as large")
    let status = ckernels_mean(bytes(source.base), source.stride, bytes(base), stride, width, height, side)
    precondition(status == 0, "there is no memory for a row")
  }

  /// Takes the bytes of a plane half as large again in both directions, through a low pass of four samples.
  ///
  /// - Parameter portable: leaves out what only some processors have; the bytes are the same.
  package func copy(twoThirdsOf source: Plane, portable: Bool = false) {
    precondition(width % 2 == 0 && height % 2 == 0, "two thirds have an even size")
    precondition(source.width * 2 == width * 3 && source.height * 2 == height * 3, "the source is not 3 : 2")
    guard width > 0 && height > 0 else { return }
    let status = ckernels_two_thirds(
      bytes(source.base), source.stride, bytes(base), stride, width, height, portable ? 1 : 0)
    precondition(status == 0, "there is no memory for a row")
  }

  /// Takes the bytes of a plane, transformed; this plane has the size that `orientation` gives the source.
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

  /// Draws a plane of the same size over this one, with its four corners rounded by `mask`.
  package func draw(_ source: Plane, corners mask: CornerMask) {
    precondition(source.width == width && source.height == height, "planes differ in size")
    precondition(2 * mask.side <= width && 2 * mask.side <= height, "the corners overlap")
    mask.coverage.withUnsafeBufferPointer { coverage in
      ckernels_draw_rounded(
        bytes(source.base), source.stride, bytes(base), stride, width, height, coverage.baseAddress, mask.side)
    }
  }

  /// A quarter turn is a transposition with the source read, or the target written, from its last row upwards.
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
