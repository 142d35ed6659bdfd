import Model

/// Checks the reply to a request to probe inputs.
struct ProbeCheck {
  let limits: Limits
  /// The length of each input in bytes.
  let inputs: [InputName: Int64]

  /// The report with cleaned texts, if it has facts or a reason for each of the inputs, and possible values.
  func checked(_ report: ProbeReport) throws(MediaFailure) -> ProbeReport {
    let field = ReplyField("facts")
    let refused = report.reasons.compactMap(\.input)
    let named = (report.facts.keys + refused).map(\.rawValue).sorted()
    try field.require(
      named == inputs.keys.map(\.rawValue).sorted() && refused.count == report.reasons.count,
      "and reasons are not of each input once")
    for (input, facts) in report.facts {
      try facts.check(as: field[input.rawValue], limits: limits, bytes: inputs[input] ?? 0)
    }
    for (index, reason) in report.reasons.enumerated() {
      try reason.check(as: ReplyField("reasons")[index], inputs: inputs)
    }
    var cleaned = report
    cleaned.facts = report.facts.mapValues(\.cleaned)
    cleaned.reasons = report.reasons.map(\.cleaned)
    return cleaned
  }
}

extension ClipFacts {
  // A container can state any duration in 64 bits of microseconds.
  private static let seconds = -1e13...1e13
  // 2000 to 2099, as `recorded` has no other times.
  private static let times = 946_684_800.0...4_102_444_800.0

  /// Fails if a value is impossible for a clip of this length that the limits accept.
  fileprivate func check(as field: ReplyField, limits: Limits, bytes: Int64) throws(MediaFailure) {
    try field["container"].require(container.rawValue, among: limits.containers.map(\.rawValue))
    try field["bytes"].require(self.bytes == bytes, "is \(self.bytes); the input has \(bytes)")
    try field["duration"].require(duration, in: Self.seconds)
    try field["recorded"].require(recorded, in: Self.times)
    try field["unused_streams"].require(unusedStreams.count < limits.streams, "has \(unusedStreams.count) entries")
    try field["undecoded_sound"].require(
      undecodedSound.map { audio == nil && !$0.isEmpty && $0.count < limits.streams } ?? true,
      "has \(undecodedSound?.count ?? 0) entries")
    try video.check(as: field["video"], limits: limits)
    guard let audio else { return }
    let field = field["audio"]
    try field["stream"].require(
      0..<max(1, limits.streams) ~= audio.stream && audio.stream != video.stream, "is \(audio.stream)")
    try field["codec"].require(audio.codec, among: limits.audioCodecs ?? AllowedCodecs.audio)
    try field["sample_rate"].require(audio.sampleRate, in: 0...Int(Int32.max))
    try field["channels"].require(audio.channels, in: 0...Int(Int32.max))
  }
}

extension VideoFacts {
  fileprivate func check(as field: ReplyField, limits: Limits) throws(MediaFailure) {
    try field["stream"].require(0..<max(1, limits.streams) ~= stream, "is \(stream)")
    try field["codec"].require(codec, among: limits.videoCodecs)
    try field["coded"].require(pixels: coded, atMost: limits.pixels)
    try field["sample_aspect_ratio"].require(sampleAspectRatio, in: 0.25...4)
    if let cleanAperture {
      try field["clean_aperture"].require(
        cleanAperture.x >= 0 && cleanAperture.y >= 0 && cleanAperture.width > 0 && cleanAperture.height > 0
          && cleanAperture.x < coded.width && cleanAperture.y < coded.height
          && cleanAperture.width <= coded.width - cleanAperture.x
          && cleanAperture.height <= coded.height - cleanAperture.y,
        "is not inside of a frame")
    }
    let shown = cleanAperture.map { Size(width: $0.width, height: $0.height) } ?? coded
    let width = max(1, Int((Double(shown.width) * sampleAspectRatio).rounded()))
    let upright =
      transform.swapsAxes ? Size(width: shown.height, height: width) : Size(width: width, height: shown.height)
    try field["display"].require(
      display == upright,
      "is \(display.width)x\(display.height); the other facts give \(upright.width)x\(upright.height)")
    try field["frames_per_second"].require(framesPerSecond, in: -Double(Int32.max)...Double(Int32.max))
    try field["dynamic_range"].require(
      dynamicRange == DynamicRange(transfer: color.transfer), "is not that of the transfer function")
    // The box has seven bits for it.
    try field["dolby_vision_profile"].require(dolbyVisionProfile, in: 0...127)
    try field["edit_end"].require(editEnd, in: 0...Double.greatestFiniteMagnitude)
    try field["demand.profile"].require(demand?.profile, in: 0...255)
    // The byte of a level, a tenth of it.
    try field["demand.level"].require(demand?.level, in: 0...25.5)
    try field["demand.bits_per_second"].require(demand?.bitsPerSecond, in: 0...1_000_000_000_000)
    for dwell in dwells ?? [] {
      try field["dwells"].require(
        0 <= dwell.shortest && dwell.shortest <= dwell.longest && dwell.longest.isFinite, "has an impossible range")
    }
  }
}
