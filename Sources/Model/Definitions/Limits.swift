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
  /// By libav's names, among `AllowedCodecs.video`.
  package var videoCodecs: [String]
  /// By libav's names, among `AllowedCodecs.audio`; nil: all of them.
  package var audioCodecs: [String]?
  /// By which the durations of the inputs may differ.
  package var differenceSeconds: Double

  package init(
    seconds: ClosedSeconds?, bytes: Int64, pixels: Int, framesPerSecond: Double, streams: Int,
    containers: [ContainerName], videoCodecs: [String], audioCodecs: [String]? = nil, differenceSeconds: Double
  ) {
    self.seconds = seconds
    self.bytes = bytes
    self.pixels = pixels
    self.framesPerSecond = framesPerSecond
    self.streams = streams
    self.containers = containers
    self.videoCodecs = videoCodecs
    self.audioCodecs = audioCodecs
    self.differenceSeconds = differenceSeconds
  }

  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    seconds = try container.decodeIfPresent(ClosedSeconds.self, forKey: .seconds)
    bytes = try container.decode(Int64.self, forKey: .bytes)
    pixels = try container.decode(Int.self, forKey: .pixels)
    framesPerSecond = try container.decode(Double.self, forKey: .framesPerSecond)
    streams = try container.decode(Int.self, forKey: .streams)
    containers = try container.decode([ContainerName].self, forKey: .containers)
    videoCodecs = try container.decode([String].self, forKey: .videoCodecs)
    audioCodecs = try container.decodeIfPresent([String].self, forKey: .audioCodecs)
    differenceSeconds = try container.decode(Double.self, forKey: .differenceSeconds)
    for (key, listed, allowed) in [
      (CodingKeys.videoCodecs, videoCodecs, AllowedCodecs.video),
      (.audioCodecs, audioCodecs ?? [], AllowedCodecs.audio),
    ] {
      guard let unknown = listed.first(where: { !allowed.contains($0) }) else { continue }
      throw DecodingError.dataCorruptedError(
        forKey: key, in: container,
        debugDescription: "'\(unknown)' is not among what can be decoded: \(allowed.joined(separator: ", "))")
    }
  }
}
