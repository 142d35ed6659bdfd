import Kernels
import Model

/// An input's picture as it lies on a canvas: scaled to its tile, framed, its corners round.
final class TileImage {
  let tile: Tile
  private let converter: UprightConverter
  /// The form in which a reader may have prepared its pictures for it.
  let preparation: Preparation
  private let corners: RoundedCorners
  /// The scaled picture with its border.
  private let framed: ImageBuffer
  private let frame: TileFrame?
  /// What it covers of the canvas while it lies on it.
  private let covered: ImageBuffer
  /// The number of the picture that is drawn, and of the one that is painted on the canvas.
  private var drawn: Int?
  private var painted: Int?

  init(_ tile: Tile, layout: FrameLayout) throws(Stop) {
    self.tile = tile
    let (width, height) = (tile.rectangle.width, tile.rectangle.height)
    corners = RoundedCorners(radius: Self.radius(tile.radius, in: tile.rectangle))
    framed = ImageBuffer(width: width, height: height)
    covered = ImageBuffer(width: width, height: height)
    if let border = tile.border, border.width > 0 {
      let frame = try TileFrame(border, radius: corners.radius, width: width, height: height)
      preparation = Preparation(layout: layout, size: frame.inner)
      self.frame = frame
    } else {
      preparation = Preparation(layout: layout, size: Size(width: width, height: height))
      frame = nil
    }
    converter = try UprightConverter(from: layout, to: preparation.size)
  }

  /// What is done to each picture, for the decision log.
  var summary: String { converter.summary }

  /// Draws the reader's current picture, if it is not drawn yet.
  func update(_ reader: ClipReader) throws(Stop) {
    guard drawn != reader.frames else { return }
    let target = frame?.scaled.picture ?? framed.picture
    if reader.preparation == preparation,
      try reader.withPrepared({ (prepared) throws(Stop) in target.copy(from: prepared.picture.reading) })
    {
      // It came as it is wanted.
    } else {
      try converter.draw(reader.current, into: target)
    }
    frame?.draw(into: framed.picture)
    drawn = reader.frames
  }

  /// Paints the picture where it stays, if it is not painted yet.
  ///
  /// - Parameter color: of the canvas, which the round corners leave visible.
  func paint(on canvas: MutableImagePlanes, clearing color: YUVColor) {
    guard painted != drawn else { return }
    let area = area(of: canvas)
    if corners.radius > 0 { area.fill(y: color.y, u: color.u, v: color.v) }
    area.draw(framed.picture.reading, corners: corners)
    painted = drawn
  }

  /// Draws the picture and remembers what it covers.
  func cover(_ canvas: MutableImagePlanes) {
    let area = area(of: canvas)
    covered.picture.copy(from: area.reading)
    area.draw(framed.picture.reading, corners: corners)
  }

  /// Puts back what it covered.
  func uncover(_ canvas: MutableImagePlanes) { area(of: canvas).copy(from: covered.picture.reading) }

  private func area(of canvas: MutableImagePlanes) -> MutableImagePlanes {
    let place = tile.rectangle
    return canvas.region(x: place.x, y: place.y, width: place.width, height: place.height)
  }

  /// Two corners may not overlap.
  private static func radius(_ wanted: Int, in rectangle: Rectangle) -> Int {
    max(0, min(wanted, min(rectangle.width, rectangle.height) / 2 - 1))
  }
}
