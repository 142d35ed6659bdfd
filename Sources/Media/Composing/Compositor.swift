import AV
import Kernels
import Model

/// Draws composed frames: the tiles of a plan on a canvas.
///
/// If a tile fills the canvas, the other tiles are drawn over its frame, where possible in the decoder's own memory,
/// and the covered pixels are restored afterwards. Tiles that do not overlap are painted only when their frame changes.
final class Compositor {
  private let canvas: Canvas
  /// Tiles that are painted when their frame changes.
  private let painted: [TileImage]
  /// Tiles that are drawn over every composed frame.
  private let overlaid: [TileImage]

  /// The background of the tiles.
  private enum Canvas {
    /// The frame of an input, upright and of the canvas's size.
    case input(InputName, UprightCanvas)
    /// A frame of one colour.
    case plain(PlainCanvas)
  }

  /// - Parameters:
  ///   - layouts: the layout of each input's frames.
  ///   - isInPlace: whether the readers' current frames may be drawn on.
  init(_ plan: CompositionPlan, layouts: [InputName: FrameLayout], isInPlace: Bool) throws(RunFailure) {
    let full = Rectangle(x: 0, y: 0, width: plan.canvas.width, height: plan.canvas.height)
    var tiles = plan.tiles[...]
    if let first = tiles.first, first.rectangle == full, first.radius == 0, first.border == nil {
      tiles.removeFirst()
      canvas = .input(
        first.input,
        try UprightCanvas(
          from: try Self.layout(of: first.input, layouts), to: plan.canvas.size, isInPlace: isInPlace))
    } else {
      canvas = .plain(try PlainCanvas(plan.canvas.size, color: plan.canvas.color ?? .black))
    }
    var painted: [TileImage] = []
    var overlaid: [TileImage] = []
    for tile in tiles {
      guard tile.rectangle.isInside(full) else {
        throw .failed(MediaError(.invalidPlan, "a tile extends beyond the canvas"))
      }
      let image = try TileImage(tile, layout: try Self.layout(of: tile.input, layouts))
      let isPaintable = painted.allSatisfy { !$0.tile.rectangle.intersects(tile.rectangle) } && overlaid.isEmpty
      if case .plain = canvas, isPaintable { painted.append(image) } else { overlaid.append(image) }
    }
    self.painted = painted
    self.overlaid = overlaid
  }

  /// The conversions of each input's frames, for the decision log.
  var summaries: [(input: InputName, summary: String)] {
    let tiles = (painted + overlaid).map { (input: $0.tile.input, summary: $0.summary) }
    guard case .input(let input, let background) = canvas else { return tiles }
    return [(input, background.summary)] + tiles
  }

  /// The form into which the frames of each input are converted.
  var preparations: [InputName: Preparation] {
    var preparations: [InputName: Preparation] = [:]
    for image in painted + overlaid { preparations[image.tile.input] = image.preparation }
    if case .input(let input, let background) = canvas { preparations[input] = background.preparation }
    return preparations
  }

  /// Composes the current frames of the inputs and calls `use` with the result, which is valid during the call.
  func compose(
    _ readers: [InputName: ClipReader], use: (borrowing Frame) throws(RunFailure) -> Void
  ) throws(RunFailure) {
    for image in painted + overlaid {
      guard let reader = readers[image.tile.input] else { continue }
      try image.update(reader)
    }
    switch canvas {
    case .input(let input, let background):
      guard let reader = readers[input] else { return }
      try background.withFrame(of: reader) { (frame) throws(RunFailure) in try overlay(frame, use: use) }
    case .plain(let plain):
      for image in painted { image.paint(on: plain.imagePlanes, clearing: plain.color) }
      try plain.withFrame { (frame) throws(RunFailure) in try overlay(frame, use: use) }
    }
  }

  private func overlay(_ frame: borrowing Frame, use: (borrowing Frame) throws(RunFailure) -> Void) throws(RunFailure) {
    for image in overlaid { image.cover(frame.imagePlanes) }
    defer { for image in overlaid.reversed() { image.uncover(frame.imagePlanes) } }
    try use(frame)
  }

  private static func layout(
    of input: InputName, _ layouts: [InputName: FrameLayout]
  ) throws(RunFailure) -> FrameLayout {
    guard let layout = layouts[input] else {
      throw .failed(MediaError(.invalidPlan, "the canvas shows \(input.rawValue), which is missing"))
    }
    return layout
  }
}
