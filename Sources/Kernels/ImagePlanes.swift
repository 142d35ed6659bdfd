/// A read-only view of an 8-bit 4:2:0 image: a luma plane and two chroma planes of half its size, rounded up.
package struct ImagePlanes {
  package let y: Plane
  package let u: Plane
  package let v: Plane

  package init(y: Plane, u: Plane, v: Plane) {
    for chroma in [u, v] {
      precondition(
        chroma.width == (y.width + 1) / 2 && chroma.height == (y.height + 1) / 2,
        "chroma planes have half the size of the luma plane")
    }
    self.y = y
    self.u = u
    self.v = v
  }

  /// The number of luma pixels in a row.
  package var width: Int { y.width }
  /// The number of luma rows.
  package var height: Int { y.height }

  /// Returns a rectangle of this image, in the same memory. `x` and `y` must be even, because of chroma subsampling.
  package func region(x: Int, y: Int, width: Int, height: Int) -> ImagePlanes {
    precondition(x % 2 == 0 && y % 2 == 0, "a region of a 4:2:0 image does not start at even coordinates")
    let half = (x: x / 2, y: y / 2, width: (width + 1) / 2, height: (height + 1) / 2)
    return ImagePlanes(
      y: self.y.region(x: x, y: y, width: width, height: height),
      u: u.region(x: half.x, y: half.y, width: half.width, height: half.height),
      v: v.region(x: half.x, y: half.y, width: half.width, height: half.height))
  }
}

/// A writable view of an 8-bit 4:2:0 image.
package struct MutableImagePlanes {
  package let y: MutablePlane
  package let u: MutablePlane
  package let v: MutablePlane

  package init(y: MutablePlane, u: MutablePlane, v: MutablePlane) {
    self.y = y
    self.u = u
    self.v = v
    _ = reading
  }

  /// A read-only view of the same memory.
  package var reading: ImagePlanes { ImagePlanes(y: y.reading, u: u.reading, v: v.reading) }

  /// The number of luma pixels in a row.
  package var width: Int { y.width }
  /// The number of luma rows.
  package var height: Int { y.height }

  /// Returns a rectangle of this image, in the same memory. `x` and `y` must be even, because of chroma subsampling.
  package func region(x: Int, y: Int, width: Int, height: Int) -> MutableImagePlanes {
    precondition(x % 2 == 0 && y % 2 == 0, "a region of a 4:2:0 image does not start at even coordinates")
    let half = (x: x / 2, y: y / 2, width: (width + 1) / 2, height: (height + 1) / 2)
    return MutableImagePlanes(
      y: self.y.region(x: x, y: y, width: width, height: height),
      u: u.region(x: half.x, y: half.y, width: half.width, height: half.height),
      v: v.region(x: half.x, y: half.y, width: half.width, height: half.height))
  }

  /// Fills the image with one colour, given in the range and matrix of the image.
  package func fill(y luma: UInt8, u blue: UInt8, v red: UInt8) {
    y.fill(with: luma)
    u.fill(with: blue)
    v.fill(with: red)
  }

  /// Copies an image of the same size.
  package func copy(from source: ImagePlanes) {
    y.copy(from: source.y)
    u.copy(from: source.u)
    v.copy(from: source.v)
  }

  /// Copies an image of twice the width and height; each pixel is the mean of four.
  package func copy(halving source: ImagePlanes) {
    y.copy(halving: source.y)
    u.copy(halving: source.u)
    v.copy(halving: source.v)
  }

  /// Copies an image of twice the width and height whose colour samples lie on the left of two, as in video, and stay there.
  package func copy(halvingVideo source: ImagePlanes) {
    y.copy(halving: source.y)
    u.copy(halvingLeft: source.u)
    v.copy(halvingLeft: source.v)
  }

  /// Copies an image that is `side` times as wide and high; each pixel is the mean of a square.
  package func copy(meansOf source: ImagePlanes, side: Int) {
    y.copy(meansOf: source.y, side: side)
    u.copy(meansOf: source.u, side: side)
    v.copy(meansOf: source.v, side: side)
  }

  /// Copies an image of one and a half times the width and height. The size of this image must be divisible by four.
  package func copy(twoThirdsOf source: ImagePlanes) {
    y.copy(twoThirdsOf: source.y)
    u.copy(twoThirdsOf: source.u)
    v.copy(twoThirdsOf: source.v)
  }

  /// Copies a transformed image. This image must have the size that `orientation` gives the source.
  package func copy(from source: ImagePlanes, orientation: Orientation) {
    y.copy(from: source.y, orientation: orientation)
    u.copy(from: source.u, orientation: orientation)
    v.copy(from: source.v, orientation: orientation)
  }

  /// Draws an image of the same size over this one, usually a `region`, with rounded corners.
  package func draw(_ source: ImagePlanes, corners: RoundedCorners) {
    y.draw(source.y, corners: corners.luma)
    u.draw(source.u, corners: corners.chroma)
    v.draw(source.v, corners: corners.chroma)
  }
}

/// Memory for an 8-bit 4:2:0 image with aligned rows.
package struct ImageBuffer: ~Copyable {
  /// The number of luma pixels in a row.
  package let width: Int
  /// The number of luma rows.
  package let height: Int
  private let memory: AlignedBuffer
  private let strides: (luma: Int, chroma: Int)

  /// Allocates an image of zeros.
  package init(width: Int, height: Int) {
    self.width = width
    self.height = height
    strides = (AlignedBuffer.aligned(width), AlignedBuffer.aligned((width + 1) / 2))
    // Scalers write whole vectors past the end of a row: a row is padded, and the last row needs this padding.
    let padding = AlignedBuffer.alignment
    memory = AlignedBuffer(count: strides.luma * height + 2 * strides.chroma * ((height + 1) / 2) + padding)
  }

  /// The pixels, valid while the buffer lives.
  package var imagePlanes: MutableImagePlanes {
    let half = (width: (width + 1) / 2, height: (height + 1) / 2)
    let u = memory.base + strides.luma * height
    return MutableImagePlanes(
      y: MutablePlane(base: memory.base, stride: strides.luma, width: width, height: height),
      u: MutablePlane(base: u, stride: strides.chroma, width: half.width, height: half.height),
      v: MutablePlane(
        base: u + strides.chroma * half.height, stride: strides.chroma, width: half.width, height: half.height))
  }
}
