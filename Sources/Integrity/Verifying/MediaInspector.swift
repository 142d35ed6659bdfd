import Glibc
import ISOBaseMedia
package import MediaProcess
import Model
package import Platform

/// Decodes media files in a media process, and determines their properties.
package struct MediaInspector: Sendable {
  /// The result of an inspection.
  package enum Result: Sendable, Hashable {
    case decoded(MediaProperties)
    /// The file violates its format in the described way, which strict players reject.
    case invalid(String)
    /// The file cannot be decoded for the described reason.
    case undecodable(String)
  }

  private let media: MediaProcess
  private let cancellation = CancellationFlag()
  private let deadline: Duration

  /// - Parameter deadline: the longest time for one file.
  package init(_ configuration: MediaProcess.Configuration, deadline: Duration = .seconds(600)) throws(SystemError) {
    media = try MediaProcess(name: "verify-media", configuration: configuration)
    self.deadline = deadline
  }

  /// Stops the media process.
  package func stop() async { await media.stop() }

  /// Decodes a file completely. Of a source clip only the first frames are decoded, because no output may have used the
  /// rest.
  ///
  /// - Throws: `MediaFailure` if the failure is not caused by the file.
  package func inspect(_ file: OpenFile, isSource: Bool) async throws -> Result {
    do {
      let format = PhotoFormat(start: try file.descriptor.bytes(count: 16, at: 0))
      return format == nil ? try await clip(file, isSource: isSource) : try await photo(file)
    } catch let failure as MediaFailure where failure.refusalCode != nil {
      return .undecodable(failure.detail)
    }
  }

  private func photo(_ file: OpenFile) async throws -> Result {
    let report = try await media.photo(
      PhotoPlan(limits: Self.photoLimits, variants: [:]), photo: file, outputs: [:], deadline: deadline,
      cancellation: cancellation)
    if let reason = report.reason { return .undecodable(reason.detail) }
    guard let facts = report.facts else { return .undecodable("no image was found") }
    return .decoded(
      MediaProperties(
        type: facts.format.mediaType, width: facts.display.width, height: facts.display.height))
  }

  private func clip(_ file: OpenFile, isSource: Bool) async throws -> Result {
    if !isSource, let violation = try await formatViolation(of: file) { return .invalid(violation) }
    let report = try await media.process(
      [.clip: file], limits: Self.clipLimits, deadline: deadline, cancellation: cancellation
    ) { found in
      guard let facts = found[.clip], !isSource else { return nil }
      let plan = Plan(
        definition: "verify", version: 1, limits: Self.clipLimits,
        inputs: [.clip: InputPlan(facts: facts, readsAudio: facts.audio != nil)], decisions: [])
      return (plan, [:])
    }
    guard report.verdict.verdict == .accepted, let clip = report.verdict.inputs[.clip] else {
      return .undecodable(Self.text(report.verdict.reasons))
    }
    let size = clip.facts.video.display
    return .decoded(
      MediaProperties(
        type: clip.facts.container.mediaType, width: size.width, height: size.height, duration: clip.decodedSeconds))
  }

  /// Runs the check that each job runs on its outputs before it publishes them.
  private func formatViolation(of file: OpenFile) async throws -> String? {
    try await onThread("verify-samples") {
      try MovieCheck.finding(size: try file.descriptor.size()) { (offset, count) throws(SystemError) in
        try file.descriptor.bytes(count: count, at: offset)
      }
    }
  }

  private static func text(_ reasons: [Reason]) -> String {
    reasons.map { "\($0.code.rawValue): \($0.detail)" }.joined(separator: "; ")
  }

  // Stored sources were accepted with the limits of any definition, so that these limits accept everything.
  private static let clipLimits = Limits(
    seconds: SecondsRange(shortest: 0, longest: 24 * 3600), bytes: .max, pixels: 1 << 28, framesPerSecond: 1000,
    streams: 64, containers: ContainerName.allCases, videoCodecs: AllowedCodecs.video,
    audioCodecs: AllowedCodecs.audio + AllowedCodecs.namedAudio, differenceSeconds: 24 * 3600)
  // A JPEG has at most 65535 pixels in each direction.
  private static let photoLimits = PhotoLimits(
    bytes: .max, pixels: 1 << 28, headerPixels: 1 << 32, progressivePixels: 1 << 28, formats: PhotoFormat.allCases)
}

/// The properties of a media file, from the row of its asset or from decoding.
package struct MediaProperties: Sendable, Hashable {
  /// The media type (RFC 6838).
  package let type: String
  /// In pixels, after rotation.
  package let width: Int?
  package let height: Int?
  /// In seconds.
  package let duration: Double?

  package init(type: String, width: Int? = nil, height: Int? = nil, duration: Double? = nil) {
    self.type = type
    self.width = width
    self.height = height
    self.duration = duration
  }

  /// The largest difference of equal durations, in seconds: containers store times in ticks of a time base.
  private static let tolerance = 0.1

  /// Describes the differences from the properties in a row. A property that one side lacks is not compared.
  package func differences(from stored: MediaProperties) -> [String] {
    var differences: [String] = []
    if type != stored.type { differences.append("the type is \(type), not \(stored.type)") }
    if let width, let height, let storedWidth = stored.width, let storedHeight = stored.height,
      (width, height) != (storedWidth, storedHeight)
    {
      differences.append("the size is \(width)x\(height), not \(storedWidth)x\(storedHeight)")
    }
    if let duration, let storedDuration = stored.duration, abs(duration - storedDuration) > Self.tolerance {
      differences.append("the duration is \(Self.text(duration)) s, not \(Self.text(storedDuration)) s")
    }
    return differences
  }

  private static func text(_ seconds: Double) -> String { "\((seconds * 1000).rounded() / 1000)" }
}
