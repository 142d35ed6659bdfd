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
