internal import CKernels

/// Deinterlaces frames: keeps the first field and computes the rows of the second one.
package enum Deinterlacing {
  /// The rows of a plane, of 8-bit samples or of 16-bit words.
  package struct Rows {
    let base: UnsafeMutableRawPointer
    let stride: Int

    package init(_ plane: (base: UnsafeMutableRawPointer, stride: Int)) { (base, stride) = plane }

    fileprivate var reading: ckernels_rows {
      ckernels_rows(base: UnsafePointer(base.assumingMemoryBound(to: UInt8.self)), stride: stride)
    }
  }

  /// Deinterlaces a plane of the current frame.
  ///
  /// - Parameters:
  ///   - keepsLower: whether the bottom field, the odd rows counted from 0, is the first one in time.
  ///   - isWide: whether samples are 16-bit words.
  package static func draw(
    previous: Rows, current: Rows, next: Rows, into target: Rows, width: Int, height: Int, keepsLower: Bool,
    isWide: Bool
  ) {
    var (before, now, after) = (previous.reading, current.reading, next.reading)
    ckernels_deinterlace(
      &before, &now, &after, target.base.assumingMemoryBound(to: UInt8.self), target.stride, width, height,
      keepsLower ? 1 : 0, isWide ? 1 : 0)
  }
}
