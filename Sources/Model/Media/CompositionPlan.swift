/// How front and back become one video.
package struct CompositionPlan: Codable, Sendable, Hashable {
  package var canvas: Definition.Canvas
  /// The input that fills the frame.
  package var background: InputName
  /// The input that is drawn on top.
  package var foreground: InputName
  /// Where the foreground is drawn, even in every number.
  package var inset: Rectangle
  /// Of the inset's corners, in pixels.
  package var radius: Int
  package var video: Definition.VideoEncoding
  /// Nil: no sound.
  package var audio: AudioPlan?
  /// The shortest and the longest common span that is written, in seconds.
  package var seconds: ClosedSeconds

  package init(
    canvas: Definition.Canvas, background: InputName, foreground: InputName, inset: Rectangle, radius: Int,
    video: Definition.VideoEncoding, audio: AudioPlan?, seconds: ClosedSeconds
  ) {
    self.canvas = canvas
    self.background = background
    self.foreground = foreground
    self.inset = inset
    self.radius = radius
    self.video = video
    self.audio = audio
    self.seconds = seconds
  }
}
