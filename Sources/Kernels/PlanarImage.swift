internal import CKernels

/// An 8-bit picture in three planes, YCbCr of the full range as JPEG files have it (JFIF 1.02), of any size.
package final class PlanarImage {
  package let width: Int
  package let height: Int
  /// Whether chroma has half the samples in both directions, rounded up, or as many as luma.
  package let halvesChroma: Bool
  private let memory: AlignedBuffer

  package init(width: Int, height: Int, halvesChroma: Bool) {
    precondition(width > 0 && height > 0, "no picture has this size")
    self.width = width
    self.height = height
    self.halvesChroma = halvesChroma
    let chroma = Self.chromaSize(width, height, halvesChroma)
    memory = AlignedBuffer(
      count: AlignedBuffer.aligned(width) * height + 2 * AlignedBuffer.aligned(chroma.width) * chroma.height)
  }

  private static func chromaSize(_ width: Int, _ height: Int, _ halves: Bool) -> (width: Int, height: Int) {
    halves ? ((width + 1) / 2, (height + 1) / 2) : (width, height)
  }

  /// Of the planes of chroma.
  package var chromaSize: (width: Int, height: Int) { Self.chromaSize(width, height, halvesChroma) }

  /// Y, Cb or Cr; they live as long as the picture.
  package func plane(_ index: Int) -> MutablePlane {
    let stride = AlignedBuffer.aligned(width)
    guard index > 0 else { return MutablePlane(base: memory.base, stride: stride, width: width, height: height) }
    let (chroma, chromaStride) = (chromaSize, AlignedBuffer.aligned(chromaSize.width))
    return MutablePlane(
      base: memory.base + stride * height + (index - 1) * chromaStride * chroma.height, stride: chromaStride,
      width: chroma.width, height: chroma.height)
  }

  /// The same picture in another size.
  ///
  /// - Parameters:
  ///   - crop: the part that is taken, from its left and upper edge, even both; nil: all of it.
  ///   - halvesChroma: of the result.
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
        for further in 0..<count {
          scaler.nextRow(after: further).update(
            from: (source.base + (y + row + further) * source.stride + x).assumingMemoryBound(to: UInt8.self),
            count: columns)
        }
        scaler.take(count)
      }
    }
    return result
  }

  /// Changes every colour as a correction says.
  ///
  /// - Parameter portable: leaves out what only some processors have; the bytes are the same.
  package func correct(_ correction: ColorCorrection, portable: Bool = false) {
    func bytes(_ index: Int) -> UnsafeMutablePointer<UInt8> { plane(index).base.assumingMemoryBound(to: UInt8.self) }
    var planes = ckernels_planes8(
      y: bytes(0), u: bytes(1), v: bytes(2), y_stride: plane(0).stride, u_stride: plane(1).stride,
      v_stride: plane(2).stride)
    ckernels_correct_colors(
      &planes, width, height, halvesChroma ? 1 : 0, correction.luma, correction.chroma,
      portable ? 1 : 0)
  }

  /// Its pixels as 24-bit RGB, row by row without padding.
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
