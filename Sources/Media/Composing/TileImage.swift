import Kernels
import Model

/// The image of an input on a canvas: scaled to its tile, with border and rounded corners.
final class TileImage {
  let tile: Tile
  private let converter: UprightConverter
  /// The form into which a reader may prepare its frames.
  let preparation: Preparation
  private let corners: RoundedCorners
  /// The scaled frame with its border.
  private let bordered: ImageBuffer
  private let border: TileBorder?
  /// The pixels of the canvas under the image.
  private let covered: ImageBuffer
  /// The number of the frame in `bordered`, and of the one that is painted on the canvas.
  private var drawn: Int?
  private var painted: Int?

  init(_ tile: Tile, layout: FrameLayout) throws(RunFailure) {
    self.tile = tile
    let (width, height) = (tile.rectangle.width, tile.rectangle.height)
    corners = RoundedCorners(radius: Self.radius(tile.radius, in: tile.rectangle))
    bordered = ImageBuffer(width: width, height: height)
    covered = ImageBuffer(width: width, height: height)
    if let style = tile.border, style.width > 0 {
      let border = try TileBorder(style, radius: corners.radius, width: width, height: height)
      preparation = Preparation(layout: layout, size: border.inner)
      self.border = border
    } else {
      preparation = Preparation(layout: layout, size: Size(width: width, height: height))
      border = nil
    }
    converter = try UprightConverter(from: layout, to: preparation.size)
  }

  /// The conversion of each frame, for the decision log.
  var summary: String { converter.summary }

  /// Draws the reader's current frame into `bordered` if it is a new one.
  func update(_ reader: ClipReader) throws(RunFailure) {
    guard drawn != reader.frames else { return }
    let target = border?.scaled.imagePlanes ?? bordered.imagePlanes
    if reader.preparation == preparation,
      try reader.withPrepared({ (prepared) throws(RunFailure) in target.copy(from: prepared.imagePlanes.reading) })
    {
      // The reader prepared it in this form.
    } else {
      try converter.draw(reader.current, into: target)
    }
    border?.draw(into: bordered.imagePlanes)
    drawn = reader.frames
  }

  /// Paints the image on a canvas that keeps it, if it is not painted yet.
  ///
  /// - Parameter color: of the canvas, which is visible at the rounded corners.
  func paint(on canvas: MutableImagePlanes, clearing color: YUVColor) {
    guard painted != drawn else { return }
    let area = area(of: canvas)
    if corners.radius > 0 { area.fill(y: color.y, u: color.u, v: color.v) }
    area.draw(bordered.imagePlanes.reading, corners: corners)
    painted = drawn
  }

  /// Draws the image and saves the pixels under it.
  func cover(_ canvas: MutableImagePlanes) {
    let area = area(of: canvas)
    covered.imagePlanes.copy(from: area.reading)
    area.draw(bordered.imagePlanes.reading, corners: corners)
  }

  /// Restores the pixels under the image.
  func uncover(_ canvas: MutableImagePlanes) { area(of: canvas).copy(from: covered.imagePlanes.reading) }

  private func area(of canvas: MutableImagePlanes) -> MutableImagePlanes {
    let rectangle = tile.rectangle
    return canvas.region(x: rectangle.x, y: rectangle.y, width: rectangle.width, height: rectangle.height)
  }

  /// The radius, limited so that corners do not overlap.
  private static func radius(_ requested: Int, in rectangle: Rectangle) -> Int {
    max(0, min(requested, min(rectangle.width, rectangle.height) / 2 - 1))
  }
}

/// The border of a tile; its inner corners are concentric with the outer ones.
final class TileBorder {
  /// The size inside the border.
  let inner: Size
  /// The scaled frame, which is drawn inside the border.
  let scaled: ImageBuffer
  private let width: Int
  private let color: YUVColor
  private let corners: RoundedCorners
  private var isPainted = false

  init(_ border: Definition.Border, radius: Int, width: Int, height: Int) throws(RunFailure) {
    // Chroma has half the resolution: the width must be even.
    let line = border.width / 2 * 2
    guard line > 0, 2 * line + 16 <= min(width, height) else {
      throw .failed(MediaError(.invalidPlan, "a border of \(border.width) pixels leaves no room for its tile"))
    }
    self.width = line
    inner = Size(width: width - 2 * line, height: height - 2 * line)
    scaled = ImageBuffer(width: inner.width, height: inner.height)
    color = YUVColor(border.color)
    corners = RoundedCorners(radius: max(0, min(radius - line, min(inner.width, inner.height) / 2 - 1)))
  }

  /// Draws the border and the frame inside it.
  func draw(into bordered: MutableImagePlanes) {
    // Rounded corners are blended with the border's colour, which must be painted each time.
    if !isPainted || corners.radius > 0 { bordered.fill(y: color.y, u: color.u, v: color.v) }
    isPainted = true
    bordered.region(x: width, y: width, width: inner.width, height: inner.height)
      .draw(scaled.imagePlanes.reading, corners: corners)
  }
}
