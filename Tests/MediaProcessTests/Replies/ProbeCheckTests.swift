import Definitions
import Model
import Testing

@testable import MediaProcess

@Suite("Replies to a probe")
struct ProbeCheckTests {
  private static let facts = ClipFacts(
    container: .mp4, bytes: 1000, duration: 5,
    video: VideoFacts(
      stream: 0, codec: "h264", profile: "High", pixelFormat: "yuv420p", coded: Size(width: 1920, height: 1080),
      sampleAspectRatio: 1, transform: Transform(rotation: .quarter, mirrored: false),
      display: Size(width: 1080, height: 1920), framesPerSecond: 30,
      color: ColorFacts(range: "tv", matrix: "bt709", primaries: "bt709", transfer: "bt709"),
      demand: DecoderDemand(profile: 100, level: 4.2, bitsPerSecond: 9_000_000)),
    audio: AudioFacts(stream: 1, codec: "aac", profile: "LC", sampleRate: 48000, channels: 2), unusedStreams: [])

  /// An accepted and a refused input.
  private static var honest: ProbeReport {
    var report = ProbeReport()
    report.facts[.front] = facts
    report.reasons = [Reason(.truncatedContainer, input: .back, detail: "It ends.", byteOffset: 2000)]
    return report
  }

  private static func check() throws -> ProbeCheck {
    var limits = try Definitions.take5Post().limits
    limits.containers = [.mp4]
    return ProbeCheck(limits: limits, inputs: [.front: 1000, .back: 2000])
  }

  static let lies: [(field: String, change: @Sendable (inout ProbeReport) -> Void)] = [
    ("facts", { $0.facts[.front] = nil }),
    ("facts", { $0.facts[.back] = facts }),
    ("facts", { $0.facts[.clip] = facts }),
    ("facts", { $0.reasons = [] }),
    ("facts", { $0.reasons += $0.reasons }),
    ("facts", { $0.reasons = Array(repeating: $0.reasons[0], count: 10_000) }),
    ("facts", { $0.reasons = [Reason(.truncatedContainer, input: nil, detail: "")] }),
    ("reasons[0].byte_offset", { $0.reasons = [Reason(.tooLarge, input: .back, detail: "", byteOffset: 2001)] }),
    ("reasons[0].seconds", { $0.reasons = [Reason(.tooLarge, input: .back, detail: "", seconds: 1e30)] }),
    ("reasons[0].code", { $0.reasons = [Reason(.deadlineExceeded, input: .back, detail: "")] }),
    ("facts.front.container", { $0.facts[.front]?.container = .mov }),
    ("facts.front.bytes", { $0.facts[.front]?.bytes = 999 }),
    ("facts.front.duration", { $0.facts[.front]?.duration = .infinity }),
    ("facts.front.recorded", { $0.facts[.front]?.recorded = -1 }),
    ("facts.front.unused_streams", { $0.facts[.front]?.unusedStreams = Array(repeating: "2: aac", count: 16) }),
    ("facts.front.video.stream", { $0.facts[.front]?.video.stream = -1 }),
    ("facts.front.video.stream", { $0.facts[.front]?.video.stream = 16 }),
    ("facts.front.video.codec", { $0.facts[.front]?.video.codec = "mpeg4" }),
    ("facts.front.video.coded", { $0.facts[.front]?.video.coded = Size(width: 0, height: 1080) }),
    ("facts.front.video.coded", { $0.facts[.front]?.video.coded = Size(width: 10_000, height: 10_000) }),
    ("facts.front.video.coded", { $0.facts[.front]?.video.coded = Size(width: .max, height: .max) }),
    ("facts.front.video.demand.profile", { $0.facts[.front]?.video.demand?.profile = 256 }),
    ("facts.front.video.demand.level", { $0.facts[.front]?.video.demand?.level = .nan }),
    ("facts.front.video.demand.bits_per_second", { $0.facts[.front]?.video.demand?.bitsPerSecond = -1 }),
    ("facts.front.video.sample_aspect_ratio", { $0.facts[.front]?.video.sampleAspectRatio = .nan }),
    ("facts.front.video.sample_aspect_ratio", { $0.facts[.front]?.video.sampleAspectRatio = 1e30 }),
    (
      "facts.front.video.clean_aperture",
      { $0.facts[.front]?.video.cleanAperture = Rectangle(x: .max, y: 0, width: .max, height: 1080) }
    ),
    (
      "facts.front.video.clean_aperture",
      { $0.facts[.front]?.video.cleanAperture = Rectangle(x: 2, y: 0, width: 1920, height: 1080) }
    ),
    ("facts.front.video.display", { $0.facts[.front]?.video.display = Size(width: 1920, height: 1080) }),
    ("facts.front.video.display", { $0.facts[.front]?.video.display.width = .max }),
    ("facts.front.video.frames_per_second", { $0.facts[.front]?.video.framesPerSecond = 1e30 }),
    ("facts.front.video.dynamic_range", { $0.facts[.front]?.video.dynamicRange = .hybridLogGamma }),
    ("facts.front.video.dolby_vision_profile", { $0.facts[.front]?.video.dolbyVisionProfile = -8 }),
    ("facts.front.video.edit_end", { $0.facts[.front]?.video.editEnd = .nan }),
    ("facts.front.video.dwells", { $0.facts[.front]?.video.dwells = [SecondsRange(shortest: 2, longest: 1)] }),
    ("facts.front.video.dwells", { $0.facts[.front]?.video.dwells = [SecondsRange(shortest: 0, longest: .nan)] }),
    ("facts.front.audio.stream", { $0.facts[.front]?.audio?.stream = 0 }),
    ("facts.front.audio.codec", { $0.facts[.front]?.audio?.codec = "flac" }),
    ("facts.front.audio.sample_rate", { $0.facts[.front]?.audio?.sampleRate = -1 }),
    ("facts.front.audio.channels", { $0.facts[.front]?.audio?.channels = .max }),
  ]

  @Test("a false reply violates the protocol, and the failure names the field", arguments: lies.indices)
  func falseReply(index: Int) throws {
    let lie = Self.lies[index]
    var report = Self.honest
    lie.change(&report)
    let failure = #expect(throws: MediaFailure.self, "\(lie.field)") { try Self.check().checked(report) }
    #expect(failure?.kind == .protocolViolation)
    #expect(failure?.detail.contains("refused: \(lie.field) ") == true, "\(failure?.detail ?? "")")
  }

  @Test("an honest reply passes unchanged")
  func unchanged() throws {
    #expect(try Self.check().checked(Self.honest) == Self.honest)
  }

  @Test("texts from the media are cleaned and cut, and do not cause a refusal")
  func texts() throws {
    var report = Self.honest
    report.facts[.front]?.identifying =
      [IdentifyingMetadata(kind: .device, key: "©mod\0\n")]
      + Array(repeating: IdentifyingMetadata(kind: .other, key: "uuid"), count: 5000)
    report.facts[.front]?.video.profile = String(repeating: "High", count: 5000)
    report.facts[.front]?.unusedStreams = ["2: \u{85}\u{2028}x"]
    let facts = try #require(try Self.check().checked(report).facts[.front])
    #expect(facts.identifying.count == 256)
    #expect(facts.identifying.first?.key == "©mod\u{FFFD}\u{FFFD}")
    #expect(facts.video.profile?.count == String.maxReplyScalars)
    #expect(facts.unusedStreams == ["2: \u{FFFD}\u{FFFD}x"])
  }
}
