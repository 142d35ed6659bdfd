import Glibc
import ISOBaseMedia
package import MediaProcess
import Model
package import Platform

/// Decodes media files in a process of their own, and tells what they are.
package struct MediaInspector: Sendable {
  /// What came of decoding.
  package enum Answer: Sendable, Hashable {
    case decoded(MediaProperties)
    /// What it breaks of the rules that strict players rely on, in words.
    case invalid(String)
    /// Why not, in words.
    case undecodable(String)
  }

  private let slot: MediaSlot
  private let cancellation = CancellationFlag()
  private let deadline: Duration

  /// - Parameter deadline: the most time that one file may take.
  package init(_ configuration: MediaProcess.Configuration, deadline: Duration = .seconds(600)) throws(SystemError) {
    slot = try MediaSlot(name: "verify-media", configuration: configuration)
    self.deadline = deadline
  }

  /// Ends the media process.
  package func stop() async { await slot.stop() }

  /// Decodes a file whole; of a submission's clip, which may be silent about what nobody used, the first pictures.
  ///
  /// - Throws: `MediaFailure` where nothing can be said about the file.
  package func inspect(_ file: OpenFile, isSource: Bool) async throws -> Answer {
    do {
      let format = PhotoFormat(start: try file.descriptor.bytes(count: 16, at: 0))
      return format == nil ? try await clip(file, isSource: isSource) : try await photo(file)
    } catch let failure as MediaFailure where failure.refusalCode != nil {
      return .undecodable(failure.detail)
    }
  }

  private func photo(_ file: OpenFile) async throws -> Answer {
    let report = try await slot.photo(
      PhotoPlan(limits: Self.photoLimits, variants: [:]), photo: file.descriptor.number, outputs: [:],
      deadline: deadline, cancellation: cancellation)
    withExtendedLifetime(file) {}
    if let reason = report.reason { return .undecodable(reason.detail) }
    guard let facts = report.facts else { return .undecodable("nothing was found in it") }
    return .decoded(
      MediaProperties(
        type: "image/\(facts.format == .heif ? "heic" : facts.format.rawValue)", width: facts.display.width,
        height: facts.display.height))
  }

  private func clip(_ file: OpenFile, isSource: Bool) async throws -> Answer {
    if !isSource, let finding = try await invalidity(of: file) { return .invalid(finding) }
    let inputs: [InputName: Int32] = [.clip: file.descriptor.number]
    defer { withExtendedLifetime(file) {} }
    let probed = try await slot.probe(
      inputs, limits: Self.clipLimits, deadline: deadline, cancellation: cancellation)
    guard probed.reasons.isEmpty, let facts = probed.facts[.clip] else {
      return .undecodable(Self.words(probed.reasons))
    }
    let size = facts.video.display
    guard !isSource else {
      return .decoded(MediaProperties(type: facts.container.mediaType, width: size.width, height: size.height))
    }
    let plan = Plan(
      definition: "verify", version: 1, limits: Self.clipLimits,
      inputs: [.clip: InputPlan(facts: facts, readsAudio: facts.audio != nil)], decisions: [])
    let report = try await slot.run(
      plan, inputs: inputs, outputs: [:], deadline: deadline, cancellation: cancellation, progress: { _ in })
    guard report.verdict.verdict == .accepted else { return .undecodable(Self.words(report.verdict.reasons)) }
    return .decoded(
      MediaProperties(
        type: facts.container.mediaType, width: size.width, height: size.height,
        duration: report.verdict.inputs[.clip]?.decodedSeconds))
  }

  /// What every job asks of its own outputs before it publishes them.
  private func invalidity(of file: OpenFile) async throws -> String? {
    try await onThread("verify-samples") {
      try MovieCheck.finding(size: try file.descriptor.size()) { (offset, count) throws(SystemError) in
        try file.descriptor.bytes(count: count, at: offset)
      }
    }
  }

  private static func words(_ reasons: [Reason]) -> String {
    reasons.map { "\($0.code.rawValue): \($0.detail)" }.joined(separator: "; ")
  }

  // What is stored was admitted by some definition or other: everything that any of them could admit.
  private static let clipLimits = Limits(
    seconds: ClosedSeconds(shortest: 0, longest: 24 * 3600), bytes: .max, pixels: 1 << 28, framesPerSecond: 1000,
    streams: 64, containers: [.mov, .mp4, .threeGP], videoCodecs: AllowedCodecs.video, differenceSeconds: 24 * 3600)
  private static let photoLimits = PhotoLimits(
    bytes: .max, pixels: 1 << 28, progressivePixels: 1 << 28, formats: PhotoFormat.allCases)
}

extension ContainerName {
  /// The media type (RFC 6838, RFC 6381).
  fileprivate var mediaType: String {
    switch self {
    case .mov: "video/quicktime"
    case .mp4: "video/mp4"
    case .threeGP: "video/3gpp"
    }
  }
}
