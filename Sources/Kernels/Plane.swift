/// Rows of bytes that somebody else owns: one 8-bit component of a picture, to be read.
package struct Plane {
  /// The first byte of the top row.
  package let base: UnsafeRawPointer
  /// Bytes from one row to the next.
  package let stride: Int
  /// Bytes in a row.
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

  /// A rectangle of this plane, in the same memory.
  package func region(x: Int, y: Int, width: Int, height: Int) -> Plane {
    precondition(
      x >= 0 && y >= 0 && width >= 0 && height >= 0 && x + width <= self.width && y + height <= self.height,
      "outside the plane")
    return Plane(base: base + y * stride + x, stride: stride, width: width, height: height)
  }
}
