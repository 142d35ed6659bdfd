/// An 8-bit 4:2:0 picture that somebody else owns, to be read: a luma plane and two of half its size, rounded up.
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

  /// Luma pixels in a row.
  package var width: Int { y.width }
  /// The number of luma rows.
  package var height: Int { y.height }

  /// A rectangle of this picture, in the same memory; `x` and `y` are even, as chroma has no half pixels.
  package func region(x: Int, y: Int, width: Int, height: Int) -> ImagePlanes {
    precondition(x % 2 == 0 && y % 2 == 0, "a region of a 4:2:0 picture starts at an even pixel")
    let half = (x: x / 2, y: y / 2, width: (width + 1) / 2, height: (height + 1) / 2)
    return ImagePlanes(
      y: self.y.region(x: x, y: y, width: width, height: height),
      u: u.region(x: half.x, y: half.y, width: half.width, height: half.height),
      v: v.region(x: half.x, y: half.y, width: half.width, height: half.height))
  }
}
