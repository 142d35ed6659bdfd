/// What inputs may be; checked before the work that they bound.
package struct Limits: Codable, Sendable, Hashable {
  /// Of decoded time; nil: any.
  package var seconds: ClosedSeconds?
  /// Of one file.
  package var bytes: Int64
  /// Of one frame, width times height as coded.
  package var pixels: Int
  package var framesPerSecond: Double
  /// In one file.
  package var streams: Int
  package var containers: [ContainerName]
  /// By libav's names.
  package var videoCodecs: [String]
  /// By which the durations of the inputs may differ.
  package var differenceSeconds: Double

  package init(
    seconds: ClosedSeconds?, bytes: Int64, pixels: Int, framesPerSecond: Double, streams: Int,
    containers: [ContainerName], videoCodecs: [String], differenceSeconds: Double
  ) {
    self.seconds = seconds
    self.bytes = bytes
    self.pixels = pixels
    self.framesPerSecond = framesPerSecond
    self.streams = streams
    self.containers = containers
    self.videoCodecs = videoCodecs
    self.differenceSeconds = differenceSeconds
  }
}
