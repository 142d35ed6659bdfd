/// An 8-bit 4:2:0 picture that somebody else owns, to be written.
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

  /// The same memory, to be read.
  package var reading: ImagePlanes { ImagePlanes(y: y.reading, u: u.reading, v: v.reading) }

  /// Luma pixels in a row.
  package var width: Int { y.width }
  /// The number of luma rows.
  package var height: Int { y.height }

  /// A rectangle of this picture, in the same memory; `x` and `y` are even, as chroma has no half pixels.
  package func region(x: Int, y: Int, width: Int, height: Int) -> MutableImagePlanes {
    precondition(x % 2 == 0 && y % 2 == 0, "a region of a 4:2:0 picture starts at an even pixel")
    let half = (x: x / 2, y: y / 2, width: (width + 1) / 2, height: (height + 1) / 2)
    return MutableImagePlanes(
      y: self.y.region(x: x, y: y, width: width, height: height),
      u: u.region(x: half.x, y: half.y, width: half.width, height: half.height),
      v: v.region(x: half.x, y: half.y, width: half.width, height: half.height))
  }

  /// Paints everything in one colour; the components are in the picture's own range and matrix.
  package func fill(y luma: UInt8, u blue: UInt8, v red: UInt8) {
    y.fill(with: luma)
    u.fill(with: blue)
    v.fill(with: red)
  }

  /// Takes the pixels of a picture of the same size.
  package func copy(from source: ImagePlanes) {
    y.copy(from: source.y)
    u.copy(from: source.u)
    v.copy(from: source.v)
  }

  /// Takes the pixels of a picture of twice the width and height, each the mean of four.
  package func copy(halving source: ImagePlanes) {
    y.copy(halving: source.y)
    u.copy(halving: source.u)
    v.copy(halving: source.v)
  }

  /// Takes the pixels of a picture that is larger by a whole number, each the mean of a square of them.
  package func copy(meansOf source: ImagePlanes, side: Int) {
    y.copy(meansOf: source.y, side: side)
    u.copy(meansOf: source.u, side: side)
    v.copy(meansOf: source.v, side: side)
  }

  /// Takes the pixels of a picture half as large again in both directions; this one's size is divisible by four.
  package func copy(twoThirdsOf source: ImagePlanes) {
    y.copy(twoThirdsOf: source.y)
    u.copy(twoThirdsOf: source.u)
    v.copy(twoThirdsOf: source.v)
  }

  /// Takes the pixels of a picture, transformed; this picture has the size that `orientation` gives the source.
  package func copy(from source: ImagePlanes, orientation: Orientation) {
    y.copy(from: source.y, orientation: orientation)
    u.copy(from: source.u, orientation: orientation)
    v.copy(from: source.v, orientation: orientation)
  }

  /// Draws a picture of the same size over this one, usually a `region`, with rounded corners.
  package func draw(_ source: ImagePlanes, corners: RoundedCorners) {
    y.draw(source.y, corners: corners.luma)
    u.draw(source.u, corners: corners.chroma)
    v.draw(source.v, corners: corners.chroma)
  }
}
