/// How front and back become one video.
package struct CompositionPlan: Codable, Sendable, Hashable {
  /// `composed`, or `composed.swapped`.
  package var role: Role
  package var canvas: Definition.Canvas
  /// The input behind, or on the other side.
  package var background: InputName
  /// The input that is drawn on top, or first.
  package var foreground: InputName
  /// What is drawn, from the lowest to the uppermost.
  package var tiles: [Tile]
  package var video: Definition.VideoEncoding
  /// Nil: no sound.
  package var audio: AudioPlan?
  /// The shortest and the longest common span that is written, in seconds.
  package var seconds: ClosedSeconds

  package init(
    role: Role, canvas: Definition.Canvas, background: InputName, foreground: InputName, tiles: [Tile],
    video: Definition.VideoEncoding, audio: AudioPlan?, seconds: ClosedSeconds
  ) {
    self.role = role
    self.canvas = canvas
    self.background = background
    self.foreground = foreground
    self.tiles = tiles
    self.video = video
    self.audio = audio
    self.seconds = seconds
  }

  /// Where the foreground is drawn.
  package var inset: Rectangle? { tiles.first { $0.input == foreground }?.rectangle }
}
