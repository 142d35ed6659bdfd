import Glibc
import MediaProcess
import Model
import Platform
import PostgresTesting

@testable import Worker

/// A media process that accepts all media, unless the test says otherwise.
final class FakeMedia: MediaRunner {
  /// The requests that it received: `probe`, `run throughput`, `run latency` and `photo`.
  let requests = Shared<[String]>([])
  /// The reason for which it rejects media.
  let reason: Reason?
  /// Whether clips are rejected by the probe instead of by the run.
  let rejectsInProbe: Bool
  /// The length of each output.
  let bytes: Int
  /// Runs in each request; what it throws is the failure of the request.
  let body: @Sendable () async throws(MediaFailure) -> Void

  init(
    reason: Reason? = nil, rejectsInProbe: Bool = false, bytes: Int = 100,
    _ body: @escaping @Sendable () async throws(MediaFailure) -> Void = { () async throws(MediaFailure) in }
  ) {
    self.reason = reason
    self.rejectsInProbe = rejectsInProbe
    self.bytes = bytes
    self.body = body
  }

  /// A media process that fails in each request.
  static func failing(_ kind: MediaFailure.Kind) -> FakeMedia {
    FakeMedia { () async throws(MediaFailure) in throw MediaFailure(kind, "by the test") }
  }

  func libraryVersions() async throws(MediaFailure) -> [String: String] { ["libavcodec": "1.2.3"] }

  func process(
    _ clips: [InputName: OpenFile], limits: Limits, mode: ExecutionMode, deadline: Duration,
    cancellation: CancellationFlag, plan: @Sendable ([InputName: ClipFacts]) throws -> (Plan, [Role: OpenFile])?,
    progress: @Sendable (Double) -> Void
  ) async throws -> RunReport {
    note("probe")
    if rejectsInProbe { try await body() }
    var probed = ProbeReport()
    for clip in clips.keys { probed.facts[clip] = Self.facts }
    if rejectsInProbe, let reason { probed.reasons = [reason] }
    guard probed.reasons.isEmpty, let (_, outputs) = try plan(probed.facts) else {
      return RunReport(verdict: probed.verdict, outputs: [])
    }
    note("run \(mode.rawValue)")
    try await body()
    progress(1)
    let verdict = Verdict(reasons: reason.map { [$0] } ?? [], inputs: [:], decisions: [])
    return RunReport(verdict: verdict, outputs: reason == nil ? write(outputs, type: "video/mp4") : [])
  }

  func photo(
    _ plan: PhotoPlan, photo: OpenFile, outputs: [Role: OpenFile], deadline: Duration, cancellation: CancellationFlag
  ) async throws(MediaFailure) -> PhotoReport {
    note("photo")
    try await body()
    return PhotoReport(reason: reason, outputs: reason == nil ? write(outputs, type: "image/jpeg") : [])
  }

  private func note(_ request: String) { requests.withLock { $0.append(request) } }

  private func write(_ outputs: [Role: OpenFile], type: String) -> [OutputFacts] {
    outputs.map { role, file in
      let content = Array(repeatElement(Array(role.rawValue.utf8), count: bytes).joined().prefix(bytes))
      let written = Glibc.write(file.descriptor.number, content, content.count)
      return OutputFacts(role: role, type: type, bytes: Int64(written), width: 100, height: 100)
    }
  }

  private static let facts = ClipFacts(
    container: .mp4, bytes: 1_000_000, duration: 5,
    video: VideoFacts(
      stream: 0, codec: "h264", profile: "High", pixelFormat: "yuv420p", coded: Size(width: 1080, height: 1920),
      sampleAspectRatio: 1, transform: .identity, display: Size(width: 1080, height: 1920), framesPerSecond: 30,
      color: ColorFacts(range: "tv", matrix: "bt709", primaries: "bt709", transfer: "bt709"),
      demand: DecoderDemand(profile: 100, level: 4, bitsPerSecond: 9_000_000)),
    audio: AudioFacts(stream: 1, codec: "aac", profile: "LC", sampleRate: 48000, channels: 2), unusedStreams: [])
}
