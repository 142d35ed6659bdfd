package import Model

/// Judges the tracks of a WebM, while it arrives and as a whole.
package struct WebMJudgement: Sendable {
  // As in `DurationRule`, for the rounding of ticks.
  private static let tolerance = 0.005

  private let limits: Limits
  private let input: InputName

  package init(_ limits: Limits, input: InputName) {
    self.limits = limits
    self.input = input
  }

  /// The reason for which a clip with these tracks is refused; nil if it may be accepted.
  package func reason(_ tracks: [WebMTrack]) -> Reason? {
    if tracks.count > limits.streams { return .tooManyStreams(tracks.count, limit: limits.streams, input: input) }
    if tracks.contains(where: \.isEncoded) {
      return Reason(.unsupportedCodec, input: input, finding: "its data are compressed once more, or encrypted")
    }
    let videos = tracks.filter { $0.size != nil }
    let accepted = limits.videoCodecs.filter(AllowedCodecs.video.contains)
    let candidates = videos.filter { accepted.contains($0.codec) }
    guard let first = candidates.first else {
      return .unsupportedVideo(videos.map(\.codec), accepted: accepted, input: input)
    }
    let sizes = candidates.compactMap(\.size)
    guard let size = first.size, sizes.allSatisfy({ $0.width * $0.height > limits.pixels }) else { return nil }
    return .tooManyPixels(size, limit: limits.pixels, input: input)
  }

  /// The reason for which a clip is refused whose frames last at least so long; nil if it may be accepted.
  func reason(seconds: Double) -> Reason? {
    guard let allowed = limits.seconds, seconds > allowed.longest + Self.tolerance else { return nil }
    return .durationOutOfRange(moreThan: seconds, allowed: allowed, input: input)
  }
}
