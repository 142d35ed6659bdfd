import AV
import BoxTesting
import Media
import MediaFixtures
import Model
import Testing

@Suite("Moments", .tags(.media))
struct MomentTests {
  /// A clip with the audio of a room that starts some frames after the start of the scene.
  static func clip(_ color: MarkColor, late frames: Int = 0, seed: UInt64 = 7, channels: Int = 2) -> MarkedClip {
    var tone = MarkedClip.Tone(440, channels: channels)
    tone.room = (start: Double(frames) / 30, seed: seed)
    var clip = MarkedClip(color, tone: tone)
    clip.firstNumber = frames
    return clip
  }

  @Test(
    "clips that start at different times are aligned by their audio", arguments: [(0, 6, 2), (6, 0, 2), (0, 9, 6)])
  func aligned(front: Int, back: Int, channels: Int) throws {
    let run = try MomentRun(
      front: Self.clip(.red, late: front, channels: channels).write(), back: Self.clip(.blue, late: back).write())
    #expect(run.isAccepted && run.warnings == [])
    let lead = abs(front - back)
    try CompositionTests.expectMarks(run, inside: .red, outside: .blue, frames: 150 - lead)
    let moment = try #require(run.report.verdict.moment)
    #expect(abs(try #require(moment.offsetSeconds) - Double(back - front) / 30) < 0.01)
    #expect(moment.confidence > 0.5)
    // The audio of the composed video starts with the front's audio at that time.
    let composed = try #require(try run.video(.composed).audio())
    let clip = try #require(try run.video(.clipFront).audio())
    #expect(Self.correlation(composed.samples, clip.samples, from: max(0, back - front) * 1600) > 0.9)
  }

  /// The largest normalised correlation of the starts.
  private static func correlation(_ one: [Float], _ other: [Float], from start: Int) -> Double {
    var best = 0.0
    // Copied packets start up to one packet earlier, hidden by the edit list; decoders differ by half a sample.
    for shift in stride(from: -64, through: 64, by: 1) {
      let first = start + shift
      guard first >= 0 else { continue }
      let count = min(48_000, one.count, other.count - first)
      guard count > 24_000 else { continue }
      var (product, ones, others) = (0.0, 0.0, 0.0)
      for index in 0..<count {
        product += Double(one[index]) * Double(other[first + index])
        ones += Double(one[index]) * Double(one[index])
        others += Double(other[first + index]) * Double(other[first + index])
      }
      best = max(best, product / (ones * others).squareRoot())
    }
    return best
  }

  @Test("tones match at many offsets and neither align nor contradict")
  func tones() throws {
    let run = try MomentRun(
      front: MarkedClip(.red, tone: .init(440)).write(), back: MarkedClip(.blue, tone: .init(440)).write())
    #expect(run.report.verdict.moment?.offsetSeconds == nil)
    #expect(run.warnings == [])
    try CompositionTests.expectMarks(run, inside: .red, outside: .blue, frames: 150)
  }

  @Test("audio of different rooms gives a warning, or a refusal if the definition requires it")
  func rooms() throws {
    let (front, back) = (try Self.clip(.red, seed: 1).write(), try Self.clip(.blue, seed: 99).write())
    let warned = try MomentRun(front: front, back: back)
    #expect(warned.isAccepted)
    #expect(warned.warnings == [.notOneMoment])
    var strict = try MomentRun.definition()
    strict.moment = Definition.Moment(doubt: .refuse)
    #expect(try MomentRun(front: front, back: back, definition: strict).codes == [.notOneMoment])
  }

  @Test("the same audio at up to two seconds' distance is of one moment", arguments: [18, 30, 31, 32, 57])
  func distant(frames: Int) throws {
    let run = try MomentRun(front: Self.clip(.red, late: frames).write(), back: Self.clip(.blue).write())
    // Half a second can be left out, and half a second held.
    let rest = max(0, frames - 30)
    // A frame of 33 ms is not noticed.
    #expect(run.isAccepted && run.warnings == (rest > 1 ? [.notAligned] : []))
    let offset = try #require(run.report.verdict.moment?.offsetSeconds)
    #expect(abs(offset + Double(frames) / 30) < 0.01)
    let inset = try #require(run.plan?.composition?.inset)
    var numbers: [(front: Int, back: Int)] = []
    try run.video(.composed).forEachFrame { frame, _ in
      let composed = ComposedFrame(frame, inset: inset)
      numbers.append((front: try #require(composed.inset), back: try #require(composed.background)))
    }
    #expect(numbers.count == 135)
    #expect(numbers.allSatisfy { $0.back == min(149, $0.front - rest) }, "\(numbers)")
  }

  @Test(
    "clips whose offset is known are in step, also where one ends before the composition does",
    arguments: [(150, 6), (138, 6), (147, 13), (150, 27)], [(Camera.front, 2), (.back, 2), (.front, 6), (.back, 6)])
  func inStep(size: (Int, Int), early: (Camera, Int)) throws {
    let (frames, late) = size
    let (earlyCamera, channels) = early
    func clip(_ camera: Camera) -> MarkedClip {
      var clip = Self.clip(
        camera == .front ? .red : .blue, late: camera == earlyCamera ? 0 : late, channels: channels)
      clip.times = (0..<frames).map { Double($0) / 30 }
      clip.seconds = Double(frames) / 30
      return clip
    }
    let run = try MomentRun(front: clip(.front).write(), back: clip(.back).write())
    #expect(run.isAccepted && run.warnings == [], "\(run.report.verdict)")
    let inset = try #require(run.plan?.composition?.inset)
    var tick = 0
    try run.video(.composed).forEachFrame { frame, _ in
      let composed = ComposedFrame(frame, inset: inset)
      let (front, back) = (try #require(composed.inset), try #require(composed.background))
      // The late clip shows the moments from its first one on, and the early one the same until its last.
      let (earlier, later) = earlyCamera == .front ? (front, back) : (back, front)
      #expect(later == late + tick)
      #expect(earlier == min(frames - 1, late + tick))
      tick += 1
    }
    #expect(tick == max(135, frames - late))
    // The sound is that of the front, from the same moment on, and silent where the front is held.
    let composed = try #require(try run.video(.composed).audio())
    let alone = try #require(try run.video(.clipFront).audio())
    let first = earlyCamera == .front ? late : 0
    #expect(Self.correlation(composed.samples, alone.samples, from: first * 1600) > 0.9)
    let sounding = min(tick, frames - first)
    #expect(abs(composed.start + Double(composed.samples.count) / 48_000 - Double(sounding) / 30) < 0.05)
  }

  @Test(
    "compositions with other durations show the same frames, each with their sound", arguments: [Camera.front, .back])
  func unequalDurations(late: Camera) throws {
    var definition = try MomentRun.definition()
    definition.outputs[.composedSwapped] = definition.outputs[.composed]
    definition.outputs[.composed]?.composed?.seconds = SecondsRange(shortest: 3, longest: 5)
    let run = try MomentRun(
      front: Self.clip(.red, late: late == .front ? 57 : 0).write(),
      back: Self.clip(.blue, late: late == .back ? 57 : 0).write(), definition: definition,
      roles: [.composed, .composedSwapped, .clipFront, .clipBack])
    // The swapped composition lasts 4.5 s at least: half a second can be left out, and half a second held.
    #expect(run.isAccepted && run.warnings == [.notAligned], "\(run.report.verdict)")
    #expect(run.choices(.alignment).count { $0.hasPrefix("applied but for 0.9 s") } == 1)
    let plans = try #require(run.plan).compositions
    try #require(plans.map(\.role) == [.composed, .composedSwapped])
    for plan in plans {
      let area = try #require(plan.inset)
      var numbers: [(foreground: Int, background: Int)] = []
      try run.video(plan.role).forEachFrame { frame, _ in
        let composed = ComposedFrame(frame, inset: area)
        numbers.append((foreground: try #require(composed.inset), background: try #require(composed.background)))
      }
      #expect(numbers.count == 135)
      let isLate = plan.foreground == (late == .front ? .front : .back)
      #expect(
        numbers.enumerated().allSatisfy { tick, found in
          let (early, other) = isLate ? (found.background, found.foreground) : (found.foreground, found.background)
          return early == min(149, 30 + tick) && other == 57 + tick
        }, "\(plan.role.rawValue): \(numbers)")
      let composed = try #require(try run.video(plan.role).audio())
      let alone = try #require(try run.video(plan.foreground == .front ? .clipFront : .clipBack).audio())
      let correlation = Self.correlation(composed.samples, alone.samples, from: isLate ? 0 : 30 * 1600)
      #expect(correlation > 0.9, "\(plan.role.rawValue)")
    }
  }

  @Test("audio in opposite phase is not silent, and is compared like other audio", arguments: [0, 6])
  func oppositePhase(late: Int) throws {
    var front = Self.clip(.red, late: late)
    front.tone?.isOpposite = true
    let run = try MomentRun(front: front.write(), back: Self.clip(.blue).write())
    #expect(run.isAccepted && run.warnings == [])
    #expect(abs(try #require(run.report.verdict.moment?.offsetSeconds) + Double(late) / 30) < 0.01)
  }

  @Test("recording times far apart give a warning, unless the audio matches", arguments: [true, false])
  func recordingTimes(hasSameAudio: Bool) throws {
    let clips = hasSameAudio ? (Self.clip(.red), Self.clip(.blue)) : (MarkedClip(.red), MarkedClip(.blue))
    let files = try [(clips.0, UInt32(3_800_000_000)), (clips.1, 3_800_000_500)].map { clip, time in
      var bytes = try TemporaryFile.bytes(of: clip.write())
      let header = try #require(bytes.firstRange(of: Array("mvhd".utf8)))
      bytes.replaceSubrange(header.upperBound + 4..<header.upperBound + 8, with: bigEndian(time))
      return try TemporaryFile.make(bytes)
    }
    let run = try MomentRun(front: files[0], back: files[1])
    #expect(run.report.verdict.moment?.recordedDifference == 500)
    #expect(run.warnings == (hasSameAudio ? [] : [.notOneMoment]))
  }
}

@Suite("Warnings", .tags(.media))
struct WarningTests {
  @Test("valid clips have no warnings")
  func none() throws {
    let run = try MomentRun(
      front: MarkedClip(.red, tone: .init(440)).write(), back: MarkedClip(.blue, codec: .hevc10).write())
    #expect(run.isAccepted && run.report.verdict.warnings == [])
  }

  @Test(
    "a black or frozen clip gives a warning",
    arguments: [([64, 66] as [UInt16], WarningCode.blackVideo), ([300, 700], .frozenVideo)])
  func frames(stripes: [UInt16], code: WarningCode) throws {
    var clip = MarkedClip(.red, codec: .hevc10)
    clip.stripes = stripes
    let run = try MomentRun(front: clip.write(), back: MarkedClip(.blue).write())
    #expect(run.isAccepted)
    #expect(run.report.verdict.warnings.map(\.code) == [code])
    #expect(run.report.verdict.warnings.first?.input == .front)
  }

  @Test("silent audio gives a warning")
  func silence() throws {
    var tone = MarkedClip.Tone(440)
    tone.level = 0
    let run = try MomentRun(front: MarkedClip(.red).write(), back: MarkedClip(.blue, tone: tone).write())
    #expect(run.warnings == [.silentAudio])
  }

  @Test("audio that cannot be decoded gives a warning with its time, and no refusal")
  func damagedAudio() throws {
    let clip = MarkedClip(.red, tone: .init(440, channels: 1))
    let file = try clip.write()
    var bytes = try TemporaryFile.bytes(of: file)
    let demuxer = try Demuxer(reading: file, limits: DemuxerLimits(streams: 4, codecs: ["aac"]), interrupt: Interrupt())
    let audio = try #require(demuxer.streams.first { $0.kind == .audio })
    demuxer.select([audio.index])
    let packet = try Packet()
    while try demuxer.read(into: packet) {
      guard let offset = packet.byteOffset, audio.timeBase.seconds(packet.pts ?? 0) > 2 else { continue }
      for index in 0..<packet.size { bytes[Int(offset) + index] = 0xFF }
      break
    }
    let run = try MomentRun(front: TemporaryFile.make(bytes), back: MarkedClip(.blue).write())
    #expect(run.isAccepted)
    let warning = try #require(run.report.verdict.warnings.first { $0.code == .damagedAudio })
    #expect(abs(try #require(warning.seconds) - 2) < 0.1)
  }
}
