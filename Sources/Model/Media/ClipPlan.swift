/// How one camera's playable clip is made.
package struct ClipPlan: Codable, Sendable, Hashable {
  /// Copy the packets into a clean container, or encode the upright frames.
  package enum Mode: String, Codable, Sendable {
    case remux
    case encode
  }

  package var role: Role
  package var input: InputName
  package var mode: Mode
  /// Upright, even in both directions; the size that is encoded, or that is displayed when remuxed.
  package var size: Size
  /// Nil: the packets are copied.
  package var video: Definition.VideoEncoding?
  /// The most pictures a second when encoded; nil: as many as whatever else the run makes.
  package var framesPerSecond: Int?
  /// Nil: no sound.
  package var audio: AudioPlan?

  package init(
    role: Role, input: InputName, mode: Mode, size: Size, video: Definition.VideoEncoding?,
    framesPerSecond: Int? = nil, audio: AudioPlan?
  ) {
    self.role = role
    self.input = input
    self.mode = mode
    self.size = size
    self.video = video
    self.framesPerSecond = framesPerSecond
    self.audio = audio
  }
}
