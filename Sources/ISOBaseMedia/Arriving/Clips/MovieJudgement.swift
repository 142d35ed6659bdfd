internal import Model

/// Judges the tracks of a clip by its `moov` box, as a probe of the whole file does.
struct MovieJudgement {
  // As in `DurationRule`, for the rounding of ticks.
  private static let tolerance = 0.005

  private let limits: Limits
  private let input: InputName
  private let length: Int64?

  init(_ limits: Limits, input: InputName, length: Int64?) {
    self.limits = limits
    self.input = input
    self.length = length
  }

  /// The reason for which the clip is refused; nil if it may be accepted.
  ///
  /// - Parameters:
  ///   - content: the content of the box, whose structure is valid.
  ///   - handlers: the handler types of its tracks.
  func reason(_ content: [UInt8], handlers: [BoxType]) -> Reason? {
    guard handlers.contains("vide") else { return Reason(.noVideoTrack(handlers: handlers), input: input) }
    guard let tracks = VideoTracks(movie: content)?.tracks else { return nil }
    if handlers.count > limits.streams {
      return .tooManyStreams(handlers.count, limit: limits.streams, input: input)
    }
    let accepted = limits.videoCodecs.filter(AllowedCodecs.video.contains)
    // A demuxer may select any track that can be decoded.
    let candidates = tracks.filter { accepted.contains($0.codec) }
    guard let first = candidates.first else {
      return .unsupportedVideo(tracks.map(\.codec), accepted: accepted, input: input)
    }
    if candidates.allSatisfy({ $0.size.width * $0.size.height > limits.pixels }) {
      return .tooManyPixels(first.size, limit: limits.pixels, input: input)
    }
    if candidates.allSatisfy({ $0.dolbyVision?.baseLayerCompatibility == 0 }), let vision = first.dolbyVision {
      return .unviewableDolbyVision(profile: vision.profile, input: input)
    }
    return limits.seconds.flatMap { sampleReason(candidates.map(\.samples), allowed: $0) }
  }

  /// The reason that follows from the sample tables of the tracks.
  private func sampleReason(_ tracks: [SampleRuns?], allowed: SecondsRange) -> Reason? {
    let missing = tracks.map { samples in length.flatMap { samples?.missing(fromFileOf: $0) } ?? 0 }
    if missing.allSatisfy({ $0 > 0 }), let count = missing.first, let samples = tracks.first {
      return .missingFrames(count, of: samples?.count ?? count, input: input)
    }
    let seconds = tracks.map { $0?.minSeconds ?? 0 }
    guard let shortest = seconds.min(), shortest > allowed.longest + Self.tolerance else { return nil }
    return .durationOutOfRange(moreThan: shortest, allowed: allowed, input: input)
  }
}
