/// Owned memory for one 8-bit 4:2:0 picture whose rows all start aligned.
package struct ImageBuffer: ~Copyable {
  /// Luma pixels in a row.
  package let width: Int
  /// The number of luma rows.
  package let height: Int
  private let memory: AlignedBuffer
  private let strides: (luma: Int, chroma: Int)

  /// Allocates a picture of zeros.
  package init(width: Int, height: Int) {
    self.width = width
    self.height = height
    strides = (AlignedBuffer.aligned(width), AlignedBuffer.aligned((width + 1) / 2))
    // Vector loops of scalers write whole vectors: past a row's end lies its padding, past the last row this.
    let padding = AlignedBuffer.alignment
    memory = AlignedBuffer(count: strides.luma * height + 2 * strides.chroma * ((height + 1) / 2) + padding)
  }

  /// The pixels, valid while the buffer lives.
  package var picture: MutableImagePlanes {
    let half = (width: (width + 1) / 2, height: (height + 1) / 2)
    let u = memory.base + strides.luma * height
    return MutableImagePlanes(
      y: MutablePlane(base: memory.base, stride: strides.luma, width: width, height: height),
      u: MutablePlane(base: u, stride: strides.chroma, width: half.width, height: half.height),
      v: MutablePlane(
        base: u + strides.chroma * half.height, stride: strides.chroma, width: half.width, height: half.height))
  }
}
