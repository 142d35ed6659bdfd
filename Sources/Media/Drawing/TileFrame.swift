import Kernels
import Model

/// The line around a tile: what is drawn lies inside of it, with corners that run parallel to the outer ones.
final class TileFrame {
  /// Of what is drawn inside.
  let inner: Size
  /// Takes what is drawn inside.
  let scaled: ImageBuffer
  private let width: Int
  private let color: YUVColor
  private let corners: RoundedCorners
  private var isPainted = false

  init(_ border: Definition.Border, radius: Int, width: Int, height: Int) throws(Stop) {
    // Chroma has half the samples: the line is as wide as an even number of pixels.
    let line = border.width / 2 * 2
    guard line > 0, 2 * line + 16 <= min(width, height) else {
      throw .failed(MediaError(.invalidPlan, "a border of \(border.width) pixels leaves nothing of its picture"))
    }
    self.width = line
    inner = Size(width: width - 2 * line, height: height - 2 * line)
    scaled = ImageBuffer(width: inner.width, height: inner.height)
    color = YUVColor(border.color)
    corners = RoundedCorners(radius: max(0, min(radius - line, min(inner.width, inner.height) / 2 - 1)))
  }

  /// Draws line and picture.
  func draw(into framed: MutableImagePlanes) {
    // The corners are blended with what lies below: that is the line's colour, each time.
    if !isPainted || corners.radius > 0 { framed.fill(y: color.y, u: color.u, v: color.v) }
    isPainted = true
    framed.region(x: width, y: width, width: inner.width, height: inner.height)
      .draw(scaled.picture.reading, corners: corners)
  }
}
