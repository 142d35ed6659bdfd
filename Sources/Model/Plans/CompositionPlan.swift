/// The work on one composed video.
package struct CompositionPlan: Codable, Sendable, Hashable {
  /// `composed`, or `composed.swapped`.
  package var role: Role
  package var canvas: Definition.Canvas
  /// The input that is drawn below, or second.
  package var background: InputName
  /// The input that is drawn on top, or first.
  package var foreground: InputName
  /// The tiles from the lowest to the uppermost.
  package var tiles: [Tile]
  package var video: Definition.VideoEncoding
  /// Nil: no audio.
  package var audio: AudioPlan?
  /// The other clip's audio, which is taken if `audio` is silent throughout and this is not; nil: `audio` is kept.
  package var otherAudio: AudioPlan?
  /// The allowed durations of the composed video.
  package var seconds: SecondsRange

  package init(
    role: Role, canvas: Definition.Canvas, background: InputName, foreground: InputName, tiles: [Tile],
    video: Definition.VideoEncoding, audio: AudioPlan?, otherAudio: AudioPlan? = nil, seconds: SecondsRange
  ) {
    self.role = role
    self.canvas = canvas
    self.background = background
    self.foreground = foreground
    self.tiles = tiles
    self.video = video
    self.audio = audio
    self.otherAudio = otherAudio
    self.seconds = seconds
  }

  /// The rectangle of the foreground.
  package var inset: Rectangle? { tiles.first { $0.input == foreground }?.rectangle }
}

/// The work on a smaller version of the composed video, which has its duration and sound.
package struct RenditionPlan: Codable, Sendable, Hashable {
  package var role: Role
  /// The size, even and at most the canvas's.
  package var size: Size
  package var video: Definition.VideoEncoding

  package init(role: Role, size: Size, video: Definition.VideoEncoding) {
    self.role = role
    self.size = size
    self.video = video
  }
}

/// The position of one input's frames on a canvas.
package struct Tile: Codable, Sendable, Hashable {
  package var input: InputName
  /// Position and size are even. The frame fills the rectangle and is cropped to it.
  package var rectangle: Rectangle
  /// The radius of the corners, in pixels.
  package var radius: Int
  /// The border inside of the rectangle; nil: none.
  package var border: Definition.Border?

  package init(input: InputName, rectangle: Rectangle, radius: Int = 0, border: Definition.Border? = nil) {
    self.input = input
    self.rectangle = rectangle
    self.radius = radius
    self.border = border
  }
}

/// Computes the tiles of a layout. Positions and sizes are even, because 4:2:0 chroma has half the resolution.
struct CompositionLayout {
  let canvas: Definition.Canvas
  let composed: Definition.Composed

  /// The tiles from the lowest to the uppermost.
  ///
  /// - Parameters:
  ///   - background, foreground: the inputs, each with its size as displayed.
  func tiles(
    background: (input: InputName, display: Size), foreground: (input: InputName, display: Size)
  ) -> [Tile] {
    switch composed.layout {
    case .inset:
      let all = Rectangle(x: 0, y: 0, width: canvas.width, height: canvas.height)
      return [tile(background, in: all), inset(foreground)]
    case .sideBySide:
      let half = canvas.width / 4 * 2
      return [
        tile(foreground, in: Rectangle(x: 0, y: 0, width: half, height: canvas.height)),
        tile(background, in: Rectangle(x: half, y: 0, width: canvas.width - half, height: canvas.height)),
      ]
    case .stacked:
      let half = canvas.height / 4 * 2
      return [
        tile(foreground, in: Rectangle(x: 0, y: 0, width: canvas.width, height: half)),
        tile(background, in: Rectangle(x: 0, y: half, width: canvas.width, height: canvas.height - half)),
      ]
    }
  }

  private func tile(_ clip: (input: InputName, display: Size), in cell: Rectangle) -> Tile {
    guard canvas.fit == .fit else { return Tile(input: clip.input, rectangle: cell) }
    let size = Self.fitted(clip.display, into: Size(width: cell.width, height: cell.height))
    return Tile(
      input: clip.input,
      rectangle: Rectangle(
        x: cell.x + (cell.width - size.width) / 4 * 2, y: cell.y + (cell.height - size.height) / 4 * 2,
        width: size.width, height: size.height))
  }

  private func inset(_ clip: (input: InputName, display: Size)) -> Tile {
    let (inset, box) = (composed.inset, composed.insetBox(on: canvas))
    let size = canvas.fit == .fit ? Self.fitted(clip.display, into: box) : box
    let margin = inset.margin / 2 * 2
    let right = canvas.width - size.width - margin
    let bottom = canvas.height - size.height - margin
    let atLeft = inset.corner == .topLeft || inset.corner == .bottomLeft
    let atTop = inset.corner == .topLeft || inset.corner == .topRight
    return Tile(
      input: clip.input,
      rectangle: Rectangle(
        x: atLeft ? margin : right, y: atTop ? margin : bottom, width: size.width, height: size.height),
      radius: inset.radius, border: inset.border)
  }

  /// The largest size with a frame's aspect ratio in a box.
  private static func fitted(_ frame: Size, into box: Size) -> Size {
    let scale = min(Double(box.width) / Double(frame.width), Double(box.height) / Double(frame.height))
    return Size(
      width: min(box.width, Size.even(Double(frame.width) * scale)),
      height: min(box.height, Size.even(Double(frame.height) * scale)))
  }
}
