internal import CKernels

extension MutablePlane {
  /// Copies the plane of twice the width and height at the top left of another, whose samples lie on the left of two and stay there.
  package func copy(halvingLeft plane: Plane) {
    let source = plane.region(x: 0, y: 0, width: 2 * width, height: 2 * height)
    ckernels_halve_left(
      source.base.assumingMemoryBound(to: UInt8.self), source.stride, base.assumingMemoryBound(to: UInt8.self), stride,
      width, height)
  }
}
