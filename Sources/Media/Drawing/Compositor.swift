import AV
import Kernels
import Model

/// Draws composed pictures: what fills the canvas lies below, what lies on top is drawn for the moment and taken away.
///
/// Where one input is the whole canvas already, the others are drawn into the decoder's own memory, and what they
/// covered is put back afterwards. Tiles that lie beside each other are painted only when their picture changes.
final class Compositor {
  private let canvas: Canvas
  /// Drawn when their pictures change.
  private let painted: [TileImage]
  /// Drawn for each picture, over what lies below.
  private let overlaid: [TileImage]

  /// What the tiles are drawn on.
  private enum Canvas {
    /// An input's own picture, upright and as large as the canvas.
    case input(InputName, UprightCanvas)
    /// Memory of one colour.
    case plain(PlainCanvas)
  }

  /// - Parameter layouts: how the pictures of each input lie in memory.
  init(_ plan: CompositionPlan, layouts: [InputName: FrameLayout], inPlace: Bool) throws(Stop) {
    let whole = Rectangle(x: 0, y: 0, width: plan.canvas.width, height: plan.canvas.height)
    var tiles = plan.tiles[...]
    if let first = tiles.first, first.rectangle == whole, first.radius == 0, first.border == nil {
      tiles.removeFirst()
      canvas = .input(
        first.input,
        try UprightCanvas(
          from: try Self.layout(of: first.input, layouts), to: plan.canvas.size, inPlace: inPlace))
    } else {
      canvas = .plain(try PlainCanvas(plan.canvas.size, color: plan.canvas.color ?? .black))
    }
    var painted: [TileImage] = []
    var overlaid: [TileImage] = []
    for tile in tiles {
      guard tile.rectangle.isInside(whole) else {
        throw .failed(MediaError(.invalidPlan, "a picture does not lie on the canvas"))
      }
      let picture = try TileImage(tile, layout: try Self.layout(of: tile.input, layouts))
      let isFree = painted.allSatisfy { !$0.tile.rectangle.intersects(tile.rectangle) } && overlaid.isEmpty
      if case .plain = canvas, isFree { painted.append(picture) } else { overlaid.append(picture) }
    }
    self.painted = painted
    self.overlaid = overlaid
  }

  /// What is done to the pictures of each input, for the decision log.
  var summaries: [(input: InputName, summary: String)] {
    let tiles = (painted + overlaid).map { (input: $0.tile.input, summary: $0.summary) }
    guard case .input(let input, let picture) = canvas else { return tiles }
    return [(input, picture.summary)] + tiles
  }

  /// The form in which it wants the pictures of each input.
  var preparations: [InputName: Preparation] {
    var preparations: [InputName: Preparation] = [:]
    for picture in painted + overlaid { preparations[picture.tile.input] = picture.preparation }
    if case .input(let input, let picture) = canvas { preparations[input] = picture.preparation }
    return preparations
  }

  /// Draws the current pictures of the inputs and lends the composed one to `use`; it is gone afterwards.
  func compose(
    _ readers: [InputName: ClipReader], use: (borrowing Frame) throws(Stop) -> Void
  ) throws(Stop) {
    for picture in painted + overlaid {
      guard let reader = readers[picture.tile.input] else { continue }
      try picture.update(reader)
    }
    switch canvas {
    case .input(let input, let picture):
      guard let reader = readers[input] else { return }
      try picture.lend(reader) { (frame) throws(Stop) in try overlay(frame, use: use) }
    case .plain(let plain):
      for picture in painted { picture.paint(on: plain.picture, clearing: plain.color) }
      try plain.lend { (frame) throws(Stop) in try overlay(frame, use: use) }
    }
  }

  private func overlay(_ frame: borrowing Frame, use: (borrowing Frame) throws(Stop) -> Void) throws(Stop) {
    for picture in overlaid { picture.cover(frame.picture) }
    defer { for picture in overlaid.reversed() { picture.uncover(frame.picture) } }
    try use(frame)
  }

  private static func layout(
    of input: InputName, _ layouts: [InputName: FrameLayout]
  ) throws(Stop) -> FrameLayout {
    guard let layout = layouts[input] else {
      throw .failed(MediaError(.invalidPlan, "the canvas shows \(input.rawValue), which did not come with the plan"))
    }
    return layout
  }
}
