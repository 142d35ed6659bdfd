import AV
import Glibc
import Media
import MediaFixtures
import Model
import Platform
import Testing

@Suite(
  "Field media", .tags(.media),
  .enabled(if: FieldMedia.folder != nil, "TAKE5_FIELD_MEDIA is not set"))
struct FieldMediaTests {
  /// The expected facts of a clip that is accepted if its duration is not limited.
  struct Clip: Sendable, CustomTestStringConvertible {
    let path: String
    let display: Size
    let transform: Transform
    let seconds: Double
    /// The codec of the audio stream; nil without one.
    let audioCodec: String?

    var testDescription: String { path }

    init(
      _ path: String, _ width: Int, _ height: Int, _ seconds: Double, audio: String?,
      _ rotation: Transform.Rotation = .none
    ) {
      self.path = "videos/\(path)"
      display = Size(width: width, height: height)
      transform = Transform(rotation: rotation, mirrored: false)
      self.seconds = seconds
      audioCodec = audio
    }
  }

  static let clips: [Clip] = [
    Clip("iphone14pro-hevc-main10-hlg-rot90.mov", 1080, 1920, 1.67, audio: nil, .quarter),
    Clip("iphone6s-h264-rot90-short-mebx.mov", 720, 1280, 0.47, audio: "aac", .quarter),
    Clip("iphone4s-h264-rot90-vfr.mov", 480, 640, 1.0, audio: "aac", .quarter),
    Clip("iphone4s-h264-rot90-vfr-568x320.mov", 320, 568, 2.0, audio: "aac", .quarter),
    Clip("h264-rot90-5s-low-fps.mp4", 480, 640, 5.0, audio: "aac", .quarter),
    Clip("h264-5s-sar-3x2.mp4", 1920, 1080, 5.0, audio: "aac"),
    Clip("h264-5s-no-audio.mp4", 640, 480, 5.0, audio: nil),
    Clip("h264-1080p25-5s-full-range.mp4", 1920, 1080, 5.04, audio: "aac"),
    Clip("h264-fragmented-rot90-5.1-audio.mp4", 1080, 1920, 2.0, audio: "aac", .quarter),
    Clip("h264-extreme-vfr-3026x1386.mp4", 3026, 1386, 8.73, audio: nil),
    Clip("h264-edit-list-9s.mp4", 853, 480, 9.0, audio: "aac"),
    Clip("hevc-1080p30-10s-full-range.mp4", 1920, 1080, 10.0, audio: "aac"),
    Clip("phone-h264-rot180-90k-timescale.mp4", 1280, 720, 2.38, audio: "aac", .half),
    Clip("two-video-two-audio-subtitles.mp4", 320, 180, 13.0, audio: "aac"),
    Clip("mv-hevc-stereo-160x120.mp4", 160, 120, 0.33, audio: nil),
  ]

  /// The built-in definition with lenient durations and a small canvas.
  static func lenient() throws -> Definition {
    var definition = try MomentRun.definition()
    definition.limits.seconds = SecondsRange(shortest: 0.1, longest: 20)
    definition.limits.differenceSeconds = 20
    definition.outputs[.composed]?.composed?.seconds.shortest = 0.1
    return definition
  }

  @Test("a valid clip is accepted, shown upright and composed with another", arguments: clips)
  func accepted(clip: Clip) throws {
    let file = try FieldMedia.open(clip.path)
    let run = try MomentRun(
      front: file, back: MarkedClip(.blue, seconds: 0.3).write(), definition: Self.lenient())
    #expect(run.codes == [])
    let report = try #require(run.report.verdict.inputs[.front])
    #expect(report.facts.video.display == clip.display)
    #expect(report.facts.video.transform == clip.transform)
    #expect(report.facts.audio?.codec == clip.audioCodec)
    #expect(abs(try #require(report.decodedSeconds) - clip.seconds) < 0.3)
    let playable = try run.video(.clipFront)
    #expect(abs(playable.duration - (try #require(report.decodedSeconds))) < 0.2)
    #expect(playable.stream(.video)?.codec == "h264")
  }

  @Test("clips of five seconds are accepted by the built-in definition")
  func moment() throws {
    let run = try MomentRun(
      front: FieldMedia.open("videos/h264-rot90-5s-low-fps.mp4"),
      back: FieldMedia.open("videos/h264-1080p25-5s-full-range.mp4"))
    #expect(run.codes == [])
    #expect((4.5...5.1).contains(try run.video(.composed).duration))
  }

  @Test("the sound of AMR is decoded where a definition accepts the clips of old phones")
  func adaptiveMultiRate() throws {
    var definition = try Self.lenient()
    definition.limits.videoCodecs += ["h263"]
    let run = try MomentRun(
      front: FieldMedia.open("videos/phone-h263-amr-15s.3gp"), back: MarkedClip(.blue, seconds: 0.3).write(),
      definition: definition)
    #expect(run.codes == [])
    #expect(run.report.verdict.inputs[.front]?.facts.audio?.codec == "amr_nb")
    #expect(try run.video(.clipFront).stream(.audio)?.codec == "aac")
  }

  @Test("a WebM is accepted where a definition names what it has")
  func webM() throws {
    var definition = try Self.lenient()
    definition.limits.containers.append(.webM)
    definition.limits.videoCodecs.append("vp9")
    let run = try MomentRun(
      front: FieldMedia.open("videos/vp9-opus-5s.webm"), back: MarkedClip(.blue, seconds: 0.3).write(),
      definition: definition)
    #expect(run.codes == [])
    #expect(run.report.verdict.inputs[.front]?.facts.audio?.codec == "opus")
    let clip = try run.video(.clipFront)
    #expect(clip.stream(.video)?.codec == "h264" && clip.stream(.audio)?.codec == "aac" && abs(clip.duration - 5) < 0.2)
  }

  static let invalid: [(String, Set<ReasonCode>)] = [
    ("videos/vp9-opus-5s.webm", [.unsupportedContainer]),
    ("videos/phone-h263-amr-15s.3gp", [.unsupportedCodec]),
    ("hostile/mp4-no-moov.mp4", [.truncatedContainer]),
    ("hostile/mp4-audio-only.mp4", [.noVideoStream]),
    (
      "hostile/mp4-chunk-table-out-of-range.mp4",
      [.unsupportedContainer, .truncatedContainer, .noVideoStream, .corruptVideo]
    ),
    ("hostile/mp4-no-mvhd-bad-matrix.mp4", [.corruptVideo]),
    ("hostile/mp4-missing-mdat-partial.mp4", [.truncatedContainer, .corruptVideo]),
    ("hostile/mp4-vvc-unsupported-codec.mp4", [.unsupportedCodec]),
    ("hostile/mp4-1x1-yuv444-5s.mp4", [.unsupportedCodec]),
    ("photos/jpeg-gps-exif.jpg", [.unsupportedContainer]),
    ("photos/iphone7-p3-grid-gps.heic", [.unsupportedContainer, .noVideoStream, .truncatedContainer]),
  ]

  @Test("an invalid clip is refused with its reason", arguments: invalid)
  func refused(path: String, codes: Set<ReasonCode>) throws {
    let run = try MomentRun(
      front: FieldMedia.open(path), back: MarkedClip(.blue, seconds: 0.3).write(), definition: Self.lenient())
    #expect(run.codes.count == 1)
    #expect(codes.isSuperset(of: run.codes), "\(run.report.verdict.reasons)")
  }

  @Test("the frames of a clip set its duration, not its header")
  func fragmentTimeline() throws {
    let file = try FieldMedia.open("hostile/mp4-fragment-timeline-starts-at-65min.mp4")
    let run = try MomentRun(front: file, back: MarkedClip(.blue, seconds: 0.3).write(), definition: Self.lenient())
    #expect(run.codes == [])
    #expect(abs(try #require(run.report.verdict.inputs[.front]?.decodedSeconds) - 8) < 0.1)
  }
}

@Suite(
  "Clips that are written unusually", .tags(.media),
  .enabled(if: FieldMedia.folder != nil, "TAKE5_FIELD_MEDIA is not set"))
struct UnusualClipTests {
  @Test(
    "a frame whose time is wrong among many is left out", arguments: ["one_pts_out_of_order.mp4", "two_pts_equal.mp4"])
  func misplaced(name: String) throws {
    let run = try MomentRun(
      front: FieldMedia.open("videos-2/\(name)"), back: MarkedClip(.blue, seconds: 0.3).write(),
      definition: FieldMediaTests.lenient())
    #expect(run.codes == [])
    #expect(run.report.verdict.decisions.contains { $0.choice.contains("left out") })
    // A copy would have the frame where its time puts it.
    #expect(
      run.report.verdict.decisions.contains { $0.reason.contains("the times of its frames are not in their order") })
  }

  /// What becomes of a clip, and whose sound the composed video has; nil: of none.
  struct Outcome: CustomTestStringConvertible {
    let name: String
    var clip = "remux"
    var sound: InputName? = .front
    var isUndecoded = false

    var testDescription: String { name }
  }

  static let outcomes = [
    Outcome(name: "aud_flac", sound: nil, isUndecoded: true),
    Outcome(
      name: "ipcm24", sound: Library.readsSoundOf24Bits ? .front : nil, isUndecoded: !Library.readsSoundOf24Bits),
    Outcome(name: "aud_phase"),
    Outcome(name: "sound_disabled", sound: nil), Outcome(name: "tail_garbage100"), Outcome(name: "tail_jpeg"),
    Outcome(name: "first_video_disabled"), Outcome(name: "fps_241", sound: nil),
    Outcome(name: "m_45deg", clip: "encode"), Outcome(name: "reserved_tags", clip: "encode"),
    Outcome(name: "matrix_rgb", clip: "encode"),
  ]

  @Test("a whole clip is accepted, and what players would read differently is encoded", arguments: outcomes)
  func accepted(outcome: Outcome) throws {
    let run = try MomentRun(
      front: FieldMedia.open("videos-2/\(outcome.name).mp4"), back: MarkedClip(.blue, seconds: 0.3).write(),
      definition: FieldMediaTests.lenient())
    #expect(run.codes == [])
    #expect(run.warnings.contains(.unsupportedAudio) == outcome.isUndecoded)
    let decisions = run.report.verdict.decisions
    #expect(decisions.first { $0.subject == .clip && $0.input == .front }?.choice == outcome.clip)
    #expect(decisions.first { $0.subject == .audio }?.input == outcome.sound)
    let clip = try run.video(.clipFront)
    #expect(try clip.firstFrame(atX: 0.5, y: 0.5) != nil)
    let stream = try #require(clip.stream(.video))
    // No tag is left that players misread.
    #expect(!["gbr", "reserved"].contains(stream.color.matrix))
    if outcome.clip == "encode" { #expect(stream.displayMatrix == nil) }
  }
}

/// The folder with recordings of real phones and hostile files that `TAKE5_FIELD_MEDIA` names.
enum FieldMedia {
  /// Nil if the variable is not set: the tests that need it are then skipped.
  static let folder: String? = getenv("TAKE5_FIELD_MEDIA").map { String(cString: $0) }

  static func open(_ path: String) throws -> OpenFile {
    OpenFile(try Descriptor(reading: "\(folder ?? "")/\(path)"))
  }
}
