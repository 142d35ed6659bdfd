import AV
import Definitions
import Media
import MediaFixtures
import Model
import Platform
import Testing

@testable import MediaProcess

@Suite("Trimmed clips", .tags(.media))
struct TrimmingTests {
  /// The built-in definition with a small canvas, which uses the first seconds of longer clips.
  static func definition(
    seconds: ClosedRange<Double> = 4.5...60, trim: Double = 5, difference: Double = 0.5
  ) throws -> Definition {
    var definition = try MomentRun.definition()
    definition.limits.seconds = SecondsRange(shortest: seconds.lowerBound, longest: seconds.upperBound)
    definition.limits.trimSeconds = trim
    definition.limits.differenceSeconds = difference
    definition.outputs[.composed]?.composed?.seconds.shortest = min(4.5, trim - 0.5)
    return definition
  }

  private static func run(
    _ front: MarkedClip, _ back: MarkedClip, _ definition: Definition, mode: ExecutionMode = .throughput
  ) throws -> MomentRun {
    try MomentRun(front: front.write(), back: back.write(), definition: definition, mode: mode)
  }

  private static func frames(_ run: MomentRun, _ role: Role) throws -> [Int?] {
    try ClipOutputTests.numbers(run.video(role))
  }

  @Test("the first seconds of longer clips are composed and copied, and nothing behind them is decoded")
  func longer() throws {
    var definition = try Self.definition()
    definition.outputs[.composed]?.composed?.seconds.longest = 60
    let run = try Self.run(
      MarkedClip(.red, seconds: 8, tone: .init(440)), MarkedClip(.blue, seconds: 7, tone: .init(1000)), definition)
    #expect(run.codes == [] && run.warnings == [], "\(run.report.verdict.reasons)")
    #expect(run.plan?.clips.map(\.mode) == [.remux, .remux])
    try CompositionTests.expectMarks(run, inside: .red, outside: .blue, frames: 150)
    for role in [Role.clipFront, .clipBack] {
      #expect(try Self.frames(run, role) == Array(0..<150))
      #expect(try CopiedClipTests.finding(run.bytes(role)) == nil)
    }
    for role in [Role.composed, .composedSmall, .clipFront, .clipBack] {
      #expect(abs(try run.video(role).duration - 5) < 0.01 && run.facts(role)?.duration == 5, "\(role.rawValue)")
      let audio = try #require(try run.video(role).audio())
      #expect(abs(audio.start + Double(audio.samples.count) / 48_000 - 5) < 0.03, "\(role.rawValue)")
    }
    #expect(run.report.verdict.inputs.values.map(\.frames) == [150, 150])
    let decisions = run.report.verdict.decisions.filter { $0.subject == .trimming }
    #expect(decisions.map(\.input) == [.back, .front] && decisions.allSatisfy { $0.choice == "trimmed to 5 s" })
    #expect(decisions.last?.reason == "it lasts 8 s, of which the definition uses the first 5")
    #expect(try run.check().checked(run.report) == run.report)
  }

  @Test("a clip that does not last longer is used as it is", arguments: [4.6, 5, 5.004])
  func shorter(seconds: Double) throws {
    let clips = [MarkColor.red, .blue].map { color in
      var clip = MarkedClip(color, tone: .init(440))
      clip.times = clip.times.filter { $0 < seconds }
      clip.seconds = seconds
      return clip
    }
    let trimmed = try Self.run(clips[0], clips[1], Self.definition())
    let whole = try Self.run(clips[0], clips[1], MomentRun.definition())
    #expect(trimmed.codes == [] && trimmed.choices(.trimming) == [])
    for role in try #require(whole.plan).outputs {
      #expect(try trimmed.bytes(role) == whole.bytes(role), "\(role.rawValue)")
    }
  }

  static let clips: [(String, @Sendable (inout MarkedClip) -> Void)] = [
    ("as phones write it", { $0.tone = .init(440) }), ("with B frames", { $0.isReordered = true }),
    ("of HEVC, with sound of six channels", { ($0.codec, $0.tone) = (.hevc, .init(440, channels: 6)) }),
    ("with 24 frames a second", { clip in clip.times = (0..<168).map { Double($0) / 24 } }),
    ("rotated, from a QuickTime file", { ($0.rotation, $0.format) = (.quarter, .mov) }),
    ("that is interlaced", { ($0.width, $0.isInterlaced) = (288, true) }),
  ]

  @Test("both modes write the same outputs, and the first look has their bytes", arguments: clips.indices)
  func modes(index: Int) throws {
    let (name, change) = Self.clips[index]
    var clip = MarkedClip(.red, seconds: 7)
    change(&clip)
    let (front, back) = (try clip.write(), try MarkedClip(.blue, seconds: 6, tone: .init(1000)).write())
    var definition = try Self.definition()
    definition.outputs[.thumbnailFront]?.still?.at = 100
    let run = try MomentRun(front: front, back: back, definition: definition)
    #expect(run.codes == [], "\(name)")
    for role in [Role.composed, .clipFront, .clipBack] {
      let seconds = try run.video(role).duration
      #expect(seconds <= 5.01 && seconds > 4.7, "\(name): \(role.rawValue) lasts \(seconds) s")
    }
    let ahead = try MomentRun(front: front, back: back, definition: definition, mode: .latency)
    #expect(ahead.report == run.report, "\(name)")
    for role in try #require(run.plan).outputs {
      #expect(try ahead.bytes(role) == run.bytes(role), "\(name): \(role.rawValue)")
    }
    for mode in ExecutionMode.allCases {
      let look = try LookRun(of: run, front: front, back: back, mode: mode)
      try look.expectOutputs(of: run, "\(name), \(mode.rawValue)")
    }
  }

  @Test("stills and previews behind the end show the last frame that is used")
  func stills() throws {
    var definition = try Self.definition()
    definition.outputs[.thumbnailFront]?.still?.at = 6
    definition.outputs[.poster]?.still?.at = 6
    let run = try Self.run(MarkedClip(.red, seconds: 8), MarkedClip(.blue, seconds: 8), definition)
    #expect(try StillImage(run.bytes(.thumbnailFront)).counter == 149)
    #expect(try StillImage(run.bytes(.poster)).counter == 149)
  }

  @Test(
    "a copy ends where no frame refers to one behind, and a clip without such a place near the end is encoded",
    arguments: [(15, true), (13, false)])
  func reordered(bFrames: Int, isCopied: Bool) throws {
    var clip = MarkedClip(.red, seconds: 7, tone: .init(440))
    clip.x264 = "keyint=300:scenecut=0:b-adapt=0:b-pyramid=none:bframes=\(bFrames)"
    let run = try Self.run(clip, MarkedClip(.blue, seconds: 6), Self.definition())
    #expect(run.codes == [])
    #expect(run.plan?.clips.first?.mode == (isCopied ? .remux : .encode), "\(run.choices(.clip))")
    let numbers = try Self.frames(run, .clipFront)
    #expect(numbers == Array(0..<(isCopied ? 145 : 150)))
    if isCopied { #expect(try CopiedClipTests.finding(run.bytes(.clipFront)) == nil) }
    let audio = try #require(try run.video(.clipFront).audio())
    #expect(abs(audio.start + Double(audio.samples.count) / 48_000 - Double(numbers.count) / 30) < 0.03)
    try CompositionTests.expectMarks(run, inside: .red, outside: .blue, frames: 150)
    #expect(try run.check().checked(run.report) == run.report)
  }

  @Test("clips that start at different times are composed from the same moment on", arguments: [(0, 9), (15, 0)])
  func aligned(front: Int, back: Int) throws {
    func clip(_ color: MarkColor, late frames: Int) -> MarkedClip {
      var clip = MomentTests.clip(color, late: frames)
      clip.times = (0..<210).map { Double($0) / 30 }
      clip.seconds = 7
      return clip
    }
    let clips = (try clip(.red, late: front).write(), try clip(.blue, late: back).write())
    let lead = abs(front - back)
    for mode in ExecutionMode.allCases {
      let run = try MomentRun(front: clips.0, back: clips.1, definition: Self.definition(), mode: mode)
      #expect(run.codes == [], "\(run.report.verdict.reasons)")
      // All five seconds are left.
      try CompositionTests.expectMarks(run, inside: .red, outside: .blue, frames: 150)
      #expect(try Self.frames(run, .clipFront) == Array(front..<front + 150))
      #expect(try Self.frames(run, .clipBack) == Array(back..<back + 150))
      let inputs = run.report.verdict.inputs
      #expect(inputs[front < back ? .front : .back]?.frames == 150 + lead)
      #expect(inputs[front < back ? .back : .front]?.frames == 150)
    }
  }

  @Test("the durations of what is used may differ by the limit", arguments: [(4.6, 8.0, true), (4.4, 8.0, false)])
  func difference(front: Double, back: Double, isAccepted: Bool) throws {
    let run = try Self.run(
      MarkedClip(.red, seconds: front), MarkedClip(.blue, seconds: back), Self.definition(seconds: 4...60))
    #expect(run.codes == (isAccepted ? [] : [.durationsDiffer]))
    if !isAccepted { #expect(run.report.verdict.reasons[0].detail.hasPrefix("The clips last 4.4 and 5 s")) }
  }

  @Test("a clip beyond the range is refused before it is decoded", arguments: [4.0, 9.0])
  func outside(seconds: Double) throws {
    let run = try Self.run(
      MarkedClip(.red, seconds: seconds), MarkedClip(.blue), Self.definition(seconds: 4.5...8))
    RefusalTests.expect(.durationOutOfRange, run)
    #expect(run.report.verdict.inputs[.front]?.frames == nil)
  }

  @Test("the frame rate counts the part that is used")
  func frameRate() throws {
    var definition = try Self.definition()
    definition.limits.framesPerSecond = 50
    var clip = MarkedClip(.red, seconds: 8)
    // 60 frames in each of the first five seconds, 3 in each of the others.
    clip.times = (0..<300).map { Double($0) / 60 } + (0..<9).map { 5 + Double($0) / 3 }
    #expect(try Self.run(clip, MarkedClip(.blue), definition).codes == [.tooLarge])
  }

  @Test("damage behind what is used is not found, damage in it is", arguments: [(0.9, true), (0.3, false)])
  func damage(part: Double, isAccepted: Bool) throws {
    var bytes = try TemporaryFile.bytes(of: MarkedClip(.red, seconds: 8).write())
    let start = Int(Double(bytes.count) * part)
    for index in start..<start + 60 { bytes[index] ^= 0x5A }
    let run = try MomentRun(
      front: TemporaryFile.make(bytes), back: MarkedClip(.blue).write(), definition: Self.definition())
    #expect(run.codes == (isAccepted ? [] : [.corruptVideo]))
  }

  @Test("frames whose times are out of order are left out, also around the end", arguments: [1, 5], [2.0, 4])
  func misplaced(count: Int, trim: Double) throws {
    for file in [try MisplacedFrameTests.equal(count), try MisplacedFrameTests.late(count)] {
      let run = try MomentRun(
        front: file, back: MarkedClip(.blue).write(), definition: Self.definition(seconds: trim...60, trim: trim))
      #expect(run.codes == [], "\(run.report.verdict.reasons)")
      #expect(abs(try run.video(.composed).duration - trim) < 0.01)
    }
  }

  @Test("a marker's clip is trimmed, copied or encoded", arguments: [MarkedClip.Codec.h264, .hevc])
  func marker(codec: MarkedClip.Codec) throws {
    var definition = try Definitions.markerVideo()
    definition.limits.trimSeconds = 2
    let file = try MarkedClip(.green, width: 480, height: 270, seconds: 3, codec: codec, tone: .init(440)).write()
    let facts = try Prober(limits: definition.limits).probe(file, as: .clip).get()
    let plan = Planner(definition).plan(clip: facts)
    #expect(plan.clips.map(\.mode) == [codec == .h264 ? .remux : .encode])
    let files = try Dictionary(uniqueKeysWithValues: plan.outputs.map { ($0, try TemporaryFile.make()) })
    let report = try PlanRunner(plan, inputs: [.clip: file], outputs: files).run()
    #expect(report.verdict.reasons == [])
    let clip = try DecodedClip(try #require(files[.clip]))
    #expect(try ClipOutputTests.numbers(clip) == Array(0..<60))
    // What is only looked at is not trimmed.
    #expect(Planner(definition).plan(inspecting: facts).limits.trimSeconds == nil)
    #expect(Planner(definition).plan(stillOf: facts, at: 2.5, longEdge: nil, quality: 80).limits.trimSeconds == nil)
  }
}
