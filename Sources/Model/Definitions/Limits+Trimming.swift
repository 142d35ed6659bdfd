extension Limits {
  /// The longest time by which a clip whose packets are copied may end before the end of the trim: it ends between two frames.
  package static let maxEarlyCut = 0.25

  /// The time that is used of a clip of a duration, in seconds.
  package func used(of seconds: Double) -> Double { trimSeconds.map { min(seconds, $0) } ?? seconds }

  /// The durations that the used parts of clips may have; nil: any.
  package var usedSeconds: SecondsRange? {
    guard let seconds, let trimSeconds else { return seconds }
    return SecondsRange(
      shortest: min(seconds.shortest, max(0, trimSeconds - Self.maxEarlyCut)),
      longest: min(seconds.longest, trimSeconds))
  }
}
