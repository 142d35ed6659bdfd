extension Definition {
  /// Throws an error that names the first number outside of its range.
  func checkRanges() throws {
    try NumberRange.day.check(deadlineSeconds, "deadline_seconds")
    try NumberRange.number.check(attempts, "attempts")
    try NumberRange.bytes.check(Double(limits.bytes), "limits.bytes")
    try NumberRange.pixels.check(limits.pixels, "limits.pixels")
    try NumberRange.number.check(limits.streams, "limits.streams")
    try NumberRange.day.check(limits.seconds?.longest, "limits.seconds")
    try NumberRange.rate.check(limits.framesPerSecond, "limits.frames_per_second")
    try NumberRange.edge.check(canvas.width, "canvas.width")
    try NumberRange.edge.check(canvas.height, "canvas.height")
    try NumberRange.rate.check(canvas.framesPerSecond, "canvas.frames_per_second")
    for role in outputs.roles { try outputs[role]?.checkRanges("outputs.\(role.rawValue)") }
  }
}

extension Definition.Output {
  /// - Parameter name: the path of the output in the definition.
  fileprivate func checkRanges(_ name: String) throws {
    switch self {
    case .composed(let output):
      try NumberRange.day.check(output.seconds.longest, "\(name).seconds")
      try NumberRange.loudness.check(output.loudness, "\(name).loudness")
      try NumberRange(0, 1).check(output.inset.width, "\(name).inset.width")
      try NumberRange.length.check(output.inset.margin, "\(name).inset.margin")
      try NumberRange.length.check(output.inset.radius, "\(name).inset.radius")
      try NumberRange.length.check(output.inset.border?.width, "\(name).inset.border.width")
    case .rendition(let output): try NumberRange.edge.check(output.longEdge, "\(name).long_edge")
    case .clip(let output):
      try NumberRange.edge.check(output.longEdge, "\(name).long_edge")
      try NumberRange.rate.check(output.framesPerSecond, "\(name).frames_per_second")
      try NumberRange.loudness.check(output.loudness, "\(name).loudness")
      for profile in output.copy?.profiles ?? [] { try NumberRange.profile.check(profile, "\(name).copy.profiles") }
      try NumberRange.level.check(output.copy?.level, "\(name).copy.level")
      try NumberRange.edge.check(output.copy?.longEdge, "\(name).copy.long_edge")
      try NumberRange.bytes.check(output.copy?.bitsPerSecond, "\(name).copy.bits_per_second")
    case .still(let output):
      try NumberRange.position.check(output.at, "\(name).at")
      try NumberRange.edge.check(output.longEdge, "\(name).long_edge")
      try NumberRange.quality.check(output.quality, "\(name).quality")
    case .preview(let output):
      try NumberRange.position.check(output.at, "\(name).at")
      try NumberRange.day.check(output.seconds, "\(name).seconds")
      try NumberRange.rate.check(output.framesPerSecond, "\(name).frames_per_second")
      try NumberRange.edge.check(output.longEdge, "\(name).long_edge")
      try NumberRange.quality.check(output.quality, "\(name).quality")
    }
  }
}

/// The range of a number in a definition: far beyond what is useful, and small enough that no arithmetic with such numbers
/// overflows.
struct NumberRange {
  private let range: ClosedRange<Double>

  init(_ lowest: Double, _ highest: Double) { range = lowest...highest }

  /// Of an edge in pixels.
  static let edge = NumberRange(1, 16_384)
  /// Of a distance in pixels.
  static let length = NumberRange(0, 16_384)
  /// Of frames per second.
  static let rate = NumberRange(1, 1000)
  /// Of a JPEG or WebP quality.
  static let quality = NumberRange(1, 100)
  /// Of a time in seconds.
  static let day = NumberRange(0, 86_400)
  /// Of a position in a clip, in seconds.
  static let position = NumberRange(-86_400, 86_400)
  /// Of the attempts of a job, the streams of a file and the photos of a post.
  static let number = NumberRange(1, 1000)
  /// Of a loudness in LUFS; what is quieter than the lowest does not count (EBU R 128).
  static let loudness = NumberRange(-70, 0)
  /// Of the number of a profile of H.264, which has eight bits.
  static let profile = NumberRange(0, 255)
  /// Of a level of H.264.
  static let level = NumberRange(1, 6.2)
  /// Of the length of a file, and of bits in a second.
  static let bytes = NumberRange(1, 1e15)
  /// Of the pixels of an image or a frame.
  static let pixels = NumberRange(1, 1e12)

  /// Throws an error with the name of a number that is outside of the range.
  func check(_ number: Double?, _ name: String) throws {
    guard let number, !range.contains(number) else { return }
    let text = "\(name) is \(number), which is not between \(range.lowerBound) and \(range.upperBound)"
    throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: text))
  }

  func check(_ number: Int?, _ name: String) throws { try check(number.map(Double.init), name) }
}
