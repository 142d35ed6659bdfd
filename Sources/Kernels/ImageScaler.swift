internal import CKernels

/// Makes an RGBA picture, whose rows come in top to bottom, into an upright one of another size in three planes, alpha on
/// white.
package final class ImageScaler {
  private let planes: [PlaneScaler]
  private let width: Int

  /// - Parameters:
  ///   - width: of the rows that come in.
  ///   - height: how many come.
  ///   - target: upright; it must live as long as the scaler.
  package init(
    width: Int, height: Int, target: PlanarImage, orientation: Orientation = .upright, portable: Bool = false
  ) {
    self.width = width
    planes = (0..<3).map { index in
      PlaneScaler(
        width: width, height: height, rowBytes: width, band: 1, target: target.plane(index), orientation: orientation,
        portable: portable)
    }
  }

  /// Takes the next row.
  package func take(_ row: UnsafePointer<UInt8>) {
    ckernels_rgba_to_ycbcr(row, planes[0].nextRow(), planes[1].nextRow(), planes[2].nextRow(), width)
    for plane in planes { plane.take(1) }
  }
}
