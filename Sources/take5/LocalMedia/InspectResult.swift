import Model

/// The result that `take5 inspect` prints for a file. In JSON, every key is present; an unknown value is null.
struct InspectResult: Encodable {
  /// The outcome for a file.
  enum Outcome: String, Encodable {
    case accepted
    case rejected
    /// The file could not be opened or read.
    case unreadable
  }

  let file: String
  let verdict: Outcome
  let reasons: [Reason]
  let warnings: [Warning]
  let decisions: [Decision]
  private let report: InputReport?
  private let photo: PhotoFacts?
  /// The reason why the file could not be read.
  private let error: String?

  private enum CodingKeys: CodingKey {
    case file, verdict, reasons, warnings, container, bytes, duration, containerDuration, start, recorded, frames
    case framesPerSecond, display, transform, video, audio, loudnessLufs, photo, color, unusedStreams, identifying,
      decisions, error
  }

  init(file: String, verdict: Verdict) {
    self.file = file
    self.verdict = verdict.verdict == .accepted ? .accepted : .rejected
    reasons = verdict.reasons
    warnings = verdict.warnings
    decisions = verdict.decisions
    report = verdict.inputs[.clip]
    photo = nil
    error = nil
  }

  init(file: String, photo report: PhotoReport) {
    self.file = file
    verdict = report.reason == nil ? .accepted : .rejected
    reasons = report.reason.map { [$0] } ?? []
    warnings = []
    decisions = report.decisions
    self.report = nil
    photo = report.facts
    error = nil
  }

  init(file: String, unreadable error: String) {
    self.file = file
    verdict = .unreadable
    (reasons, warnings, decisions) = ([], [], [])
    report = nil
    photo = nil
    self.error = error
  }

  private var facts: ClipFacts? { report?.facts }

  /// The duration in seconds: as decoded, else as the container declares it.
  private var duration: Double? { report?.decodedSeconds ?? facts?.duration }

  /// The average frame rate: as decoded, else as the container declares it.
  private var framesPerSecond: Double? {
    guard let frames = report?.frames, let seconds = report?.decodedSeconds, seconds > 0 else {
      return facts?.video.framesPerSecond
    }
    return Double(frames) / seconds
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(file, forKey: .file)
    try container.encode(verdict, forKey: .verdict)
    try container.encode(reasons, forKey: .reasons)
    try container.encode(warnings, forKey: .warnings)
    try container.encode(facts?.container.rawValue ?? photo?.format.rawValue, forKey: .container)
    try container.encode(facts?.bytes ?? photo?.bytes, forKey: .bytes)
    try container.encode(duration, forKey: .duration)
    try container.encode(facts?.duration, forKey: .containerDuration)
    try container.encode(report?.start, forKey: .start)
    try container.encode(facts?.recorded, forKey: .recorded)
    try container.encode(report?.frames ?? photo.map { _ in 1 }, forKey: .frames)
    try container.encode(framesPerSecond, forKey: .framesPerSecond)
    try container.encode(facts?.video.display ?? photo?.display, forKey: .display)
    try container.encode(facts?.video.transform ?? photo?.transform, forKey: .transform)
    try container.encode(facts?.video, forKey: .video)
    try container.encode(facts?.audio, forKey: .audio)
    try container.encode(report?.loudnessLufs, forKey: .loudnessLufs)
    try container.encode(photo, forKey: .photo)
    try container.encode(facts.map { ColorResult($0.video) } ?? photo.map(ColorResult.init), forKey: .color)
    try container.encode(facts?.unusedStreams ?? [], forKey: .unusedStreams)
    try container.encode(facts?.identifying ?? photo?.identifying ?? [], forKey: .identifying)
    try container.encode(decisions, forKey: .decisions)
    try container.encode(error, forKey: .error)
  }

  /// The result as text.
  var text: String {
    var lines = ["\(file): \(verdict.rawValue)"]
    if let error { lines.append("  \(error)") }
    lines += reasons.map { "  \($0.code.rawValue): \($0.detail)" }
    lines += warnings.map { "  warning: \($0.code.rawValue): \($0.detail)" }
    if let photo { lines += text(of: photo) }
    guard let facts else { return lines.joined(separator: "\n") }
    let video = facts.video
    var stream = "\(video.codec)"
    if let profile = video.profile { stream += " \(profile)" }
    stream += ", \(video.display.width)x\(video.display.height) upright, \(video.pixelFormat)"
    if video.transform != .identity { stream += ", \(video.transform.summary)" }
    lines.append("  container  \(facts.container.rawValue), \(facts.bytes) bytes")
    lines.append("  video      \(stream)")
    var time = duration.map { "\(VerdictText.rounded($0)) s" } ?? "unknown"
    if let frames = report?.frames { time += ", \(CountText.text(frames, "frame"))" }
    if let rate = framesPerSecond { time += ", \(VerdictText.rounded(rate)) per second" }
    lines.append("  time       \(time)")
    let color = video.color
    let range = video.dynamicRange == .standard ? "" : " (\(video.dynamicRange.rawValue.uppercased()))"
    lines.append(
      "  colour     range \(color.range), matrix \(color.matrix), primaries \(color.primaries), "
        + "transfer \(color.transfer)\(range)")
    let audio =
      facts.audio.map { "\($0.codec), \($0.sampleRate) Hz, \(CountText.text($0.channels, "channel"))" } ?? "none"
    lines.append("  audio      \(audio)")
    if !facts.unusedStreams.isEmpty { lines.append("  unused     \(facts.unusedStreams.joined(separator: ", "))") }
    lines += Self.metadataLines(facts.identifying)
    return lines.joined(separator: "\n")
  }

  private func text(of photo: PhotoFacts) -> [String] {
    var image =
      "\(photo.display.width)x\(photo.display.height) upright, \(photo.model), \(CountText.text(photo.bits, "bit"))"
    if photo.hasAlpha { image += ", with transparency" }
    if photo.isAnimated { image += ", animated" }
    if photo.transform != .identity { image += ", \(photo.transform.summary)" }
    let range = photo.dynamicRange == .standard ? "" : " (\(photo.dynamicRange.rawValue.uppercased()))"
    return [
      "  photo      \(photo.format.rawValue), \(photo.bytes) bytes", "  image      \(image)",
      "  colour     \(photo.profile ?? "sRGB")\(range)",
    ] + Self.metadataLines(photo.identifying)
  }

  private static func metadataLines(_ identifying: [IdentifyingMetadata]) -> [String] {
    guard !identifying.isEmpty else { return [] }
    return ["  metadata   \(identifying.map { "\($0.kind.rawValue) (\($0.key))" }.joined(separator: ", "))"]
  }
}

/// The colour description of a video or a photo.
private struct ColorResult: NilEncodable {
  private let range: String?
  private let matrix: String?
  private let primaries: String?
  private let transfer: String?
  private let hdr: String?
  private let dolbyVisionProfile: Int?
  /// The ICC profile of a photo; nil means sRGB.
  private let profile: String?

  init(_ video: VideoFacts) {
    range = video.color.range
    matrix = video.color.matrix
    primaries = video.color.primaries
    transfer = video.color.transfer
    hdr = video.dynamicRange == .standard ? nil : video.dynamicRange.rawValue
    dolbyVisionProfile = video.dolbyVisionProfile
    profile = nil
  }

  init(_ photo: PhotoFacts) {
    (range, matrix, primaries, transfer, dolbyVisionProfile) = (nil, nil, nil, nil, nil)
    hdr = photo.dynamicRange == .standard ? nil : photo.dynamicRange.rawValue
    profile = photo.profile
  }
}
