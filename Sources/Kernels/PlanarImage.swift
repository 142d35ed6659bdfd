internal import CKernels

/// An 8-bit image in three planes, in full-range YCbCr as in JPEG files (JFIF 1.02).
package final class PlanarImage {
  package let width: Int
  package let height: Int
  /// Whether chroma is subsampled in both directions, rounded up (4:2:0), rather than not at all (4:4:4).
  package let halvesChroma: Bool
  private let memory: AlignedBuffer

  package init(width: Int, height: Int, halvesChroma: Bool) {
    precondition(width > 0 && height > 0, "the size of an image is not positive")
    self.width = width
    self.height = height
    self.halvesChroma = halvesChroma
    let chroma = Self.chromaSize(width, height, halvesChroma)
    // As in `ImageBuffer`, the last row has a padding that scalers may write over.
    memory = AlignedBuffer(
      count: AlignedBuffer.aligned(width) * height + 2 * AlignedBuffer.aligned(chroma.width) * chroma.height
        + AlignedBuffer.alignment)
  }

  private static func chromaSize(_ width: Int, _ height: Int, _ halves: Bool) -> (width: Int, height: Int) {
    halves ? ((width + 1) / 2, (height + 1) / 2) : (width, height)
  }

  /// The size of the chroma planes.
  package var chromaSize: (width: Int, height: Int) { Self.chromaSize(width, height, halvesChroma) }

  /// The plane of Y, Cb or Cr; it is valid while the image lives.
  package func plane(_ index: Int) -> MutablePlane {
    let stride = AlignedBuffer.aligned(width)
    guard index > 0 else { return MutablePlane(base: memory.base, stride: stride, width: width, height: height) }
    let (chroma, chromaStride) = (chromaSize, AlignedBuffer.aligned(chromaSize.width))
    return MutablePlane(
      base: memory.base + stride * height + (index - 1) * chromaStride * chroma.height, stride: chromaStride,
      width: chroma.width, height: chroma.height)
  }

  /// Returns the image scaled to another size.
  ///
  /// - Parameters:
  ///   - crop: the rectangle to scale, with even `x` and `y`; nil for the entire image.
  ///   - halvesChroma: whether the result has subsampled chroma.
  package func scaled(
    toWidth width: Int, height: Int, crop: (x: Int, y: Int, width: Int, height: Int)? = nil, halvesChroma halves: Bool
  ) -> PlanarImage {
    let result = PlanarImage(width: width, height: height, halvesChroma: halves)
    let crop = crop ?? (0, 0, self.width, self.height)
    for index in 0..<3 {
      let source = plane(index)
      let (x, y) = index > 0 && halvesChroma ? (crop.x / 2, crop.y / 2) : (crop.x, crop.y)
      let (columns, rows) =
        index > 0 ? Self.chromaSize(crop.width, crop.height, halvesChroma) : (crop.width, crop.height)
      let scaler = PlaneScaler(
        width: columns, height: rows, rowBytes: columns, band: 16, target: result.plane(index))
      for row in stride(from: 0, to: rows, by: 16) {
        let count = min(16, rows - row)
        for next in 0..<count {
          scaler.nextRow(after: next).update(
            from: (source.base + (y + row + next) * source.stride + x).assumingMemoryBound(to: UInt8.self),
            count: columns)
        }
        scaler.take(count)
      }
    }
    return result
  }

  /// Applies a colour correction to every pixel.
  ///
  /// - Parameter portable: whether to use no instructions that only some processors have. The result is the same.
  package func correct(_ correction: ColorCorrection, portable: Bool = false) {
    func bytes(_ index: Int) -> UnsafeMutablePointer<UInt8> { plane(index).base.assumingMemoryBound(to: UInt8.self) }
    var planes = ckernels_planes8(
      y: bytes(0), u: bytes(1), v: bytes(2), y_stride: plane(0).stride, u_stride: plane(1).stride,
      v_stride: plane(2).stride)
    ckernels_correct_colors(
      &planes, width, height, halvesChroma ? 1 : 0, correction.luma, correction.chroma,
      portable ? 1 : 0)
  }

  /// Returns the pixels as 24-bit RGB, row by row without padding.
  package func rgb() -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: 3 * width * height) { buffer, count in
      for row in 0..<height {
        let chromaRow = halvesChroma ? row / 2 : row
        func start(_ index: Int, _ row: Int) -> UnsafePointer<UInt8> {
          let plane = plane(index)
          return UnsafePointer((plane.base + row * plane.stride).assumingMemoryBound(to: UInt8.self))
        }
        ckernels_ycbcr_to_rgb(
          start(0, row), start(1, chromaRow), start(2, chromaRow), halvesChroma ? 1 : 0,
          buffer.baseAddress! + 3 * width * row, width)
      }
      count = 3 * width * height
    }
  }
}

/// Scales an RGBA image, received row by row from top to bottom, into an upright planar image. Transparent pixels are
/// blended with white.
package final class ImageScaler {
  private let planes: [PlaneScaler]
  private let width: Int
  private let isPremultiplied: Bool

  /// - Parameters:
  ///   - width: the number of pixels in an input row.
  ///   - height: the number of input rows.
  ///   - target: the upright result; it must outlive the scaler.
  ///   - orientation: the transform that makes the input upright.
  ///   - isPremultiplied: whether the colours of the input are multiplied by alpha already.
  package init(
    width: Int, height: Int, target: PlanarImage, orientation: Orientation = .upright, isPremultiplied: Bool = false,
    portable: Bool = false
  ) {
    self.width = width
    self.isPremultiplied = isPremultiplied
    planes = (0..<3).map { index in
      PlaneScaler(
        width: width, height: height, rowBytes: width, band: 1, target: target.plane(index), orientation: orientation,
        portable: portable)
    }
  }

  /// Adds the next input row.
  package func take(_ row: UnsafePointer<UInt8>) {
    ckernels_rgba_to_ycbcr(
      row, isPremultiplied ? 1 : 0, planes[0].nextRow(), planes[1].nextRow(), planes[2].nextRow(), width)
    for plane in planes { plane.take(1) }
  }
}
