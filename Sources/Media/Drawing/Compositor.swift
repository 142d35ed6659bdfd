import AV
import Kernels
import Model

/// Draws the composed picture: the background fills the canvas, the foreground lies on it as an inset with round corners.
///
/// The inset is drawn where the background lies, in the decoder's own memory where that already is the canvas, and what
/// it covered is put back afterwards.
final class Compositor {
  private let canvas: UprightCanvas
  private let converter: UprightConverter
  private let inset: Rectangle
  private let corners: RoundedCorners
  private let scaledInset: PictureBuffer
  private let covered: PictureBuffer
  private var drawnForeground: Int?

  init(_ plan: CompositionPlan, background: PictureLayout, foreground: PictureLayout) throws(Stop) {
    inset = plan.inset
    guard inset.x >= 0, inset.y >= 0, inset.width > 0, inset.height > 0,
      inset.x + inset.width <= plan.canvas.width, inset.y + inset.height <= plan.canvas.height
    else { throw .failed(MediaError(.invalidPlan, "the inset does not lie on the canvas")) }
    corners = RoundedCorners(radius: max(0, min(plan.radius, min(inset.width, inset.height) / 2 - 1)))
    canvas = try UprightCanvas(from: background, to: plan.canvas.size)
    converter = try UprightConverter(from: foreground, to: Size(width: inset.width, height: inset.height))
    scaledInset = PictureBuffer(width: inset.width, height: inset.height)
    covered = PictureBuffer(width: inset.width, height: inset.height)
  }

  /// What is done to the frames of each, for the decision log.
  var summaries: (background: String, foreground: String) { (canvas.summary, converter.summary) }

  /// Draws the current frames of both inputs and lends the composed picture to `use`; it is gone afterwards.
  func compose(
    background: ClipReader, foreground: ClipReader, use: (borrowing Frame) throws(Stop) -> Void
  ) throws(Stop) {
    if drawnForeground != foreground.frames {
      try converter.draw(foreground.current, into: scaledInset.picture)
      drawnForeground = foreground.frames
    }
    try canvas.lend(background) { (frame) throws(Stop) in
      let area = frame.picture.region(x: inset.x, y: inset.y, width: inset.width, height: inset.height)
      covered.picture.copy(from: area.reading)
      area.draw(scaledInset.picture.reading, corners: corners)
      defer { area.copy(from: covered.picture.reading) }
      try use(frame)
    }
  }
}
