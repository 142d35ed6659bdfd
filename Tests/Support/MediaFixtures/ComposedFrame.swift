package import Kernels
package import Model

/// What a composed picture shows inside its inset and outside of it.
package struct ComposedFrame {
  /// The counters; nil where none can be read.
  package let inset: Int?
  package let background: Int?
  /// The colours in the inset's middle, at its four inner edges, beyond its outer edges, and in the canvas's corners.
  package let insideColors: Set<MarkColor?>
  package let outsideColors: Set<MarkColor?>

  /// Looks at a picture whose inset lies in `area`.
  package init(_ picture: ImagePlanes, inset area: Rectangle) {
    let region = picture.region(x: area.x, y: area.y, width: area.width, height: area.height)
    inset = CounterBlocks.read(region)
    background = CounterBlocks.read(picture)
    let (right, bottom) = (area.x + area.width, area.y + area.height)
    let (middleX, middleY) = (area.x + area.width / 2, area.y + area.height / 4)
    func color(_ x: Int, _ y: Int) -> MarkColor? {
      MarkColor(u: picture.u[x / 2, y / 2], v: picture.v[x / 2, y / 2])
    }
    insideColors = [
      color(middleX, middleY), color(area.x + 3, middleY), color(right - 4, middleY), color(middleX, area.y + 3),
      color(middleX, bottom - 4),
    ]
    outsideColors = [
      color(area.x - 4, middleY), color(right + 3, middleY), color(middleX, area.y - 4), color(middleX, bottom + 3),
      // Just inside the rectangle's corners the round ones leave the background visible.
      color(area.x + 1, area.y + 1), color(right - 2, area.y + 1), color(area.x + 1, bottom - 2),
      color(right - 2, bottom - 2),
      color(1, 1), color(picture.width - 2, 1), color(1, picture.height - 2),
      color(picture.width - 2, picture.height - 2),
    ]
  }
}
