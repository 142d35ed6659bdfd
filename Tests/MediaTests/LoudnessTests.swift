import Glibc
import MediaFixtures
import Model
import Testing

@testable import Media

@Suite("Gains of loudness")
struct LoudnessGainTests {
  static let gains: [(lufs: Double, truePeak: Double, target: Double, gain: Double)] = [
    (-16, -6, -16, 0), (-30, -20, -16, 14), (-30, -14, -16, 13), (-30, -5, -16, 4), (-8, -1, -16, -8),
    (-8, 0.5, -16, -8), (-20, 0.5, -16, -1.5), (-16, 3, -16, -4), (-23, -10, -14, 9), (-36, -30, -16, 20),
    (-50, -44, -16, 20),
  ]

  @Test("the gain brings a sound to the loudness, or its true peak to -1 dBTP", arguments: gains.indices)
  func gain(index: Int) {
    let (lufs, truePeak, target, gain) = Self.gains[index]
    #expect(abs(Loudness(lufs: lufs, truePeak: truePeak).gain(to: target) - gain) < 1e-9)
  }

  @Test("copied sound, sound without a target, and sound that was not measured keep their level")
  func levels() {
    let measured = Loudness(lufs: -36, truePeak: -30)
    let level = SoundLevel(AudioPlan(input: .front, mode: .encode, loudness: -16), of: measured)
    #expect(abs(level.factor - 10) < 1e-5 && abs((level.lufs ?? 0) + 16) < 1e-9)
    for plan in [AudioPlan(input: .front, mode: .encode), AudioPlan(input: .front, mode: .copy)] {
      let level = SoundLevel(plan, of: measured)
      #expect(level.factor == 1 && level.lufs == -36)
      #expect(SoundLevel(plan, of: nil) == SoundLevel(nil, of: measured))
    }
    let none = SoundLevel(AudioPlan(input: .front, mode: .encode, loudness: -16), of: nil)
    #expect(none.factor == 1 && none.lufs == nil)
  }

  @Test(
    "overdriven sound becomes 6 dB quieter at least, also for a target near full scale",
    arguments: [nil, 0, -1, -16] as [Double?])
  func overdriven(target: Double?) {
    let measured = Loudness(lufs: -1, truePeak: 0.5)
    let plan = AudioPlan(input: .front, mode: .encode, loudness: target)
    let level = SoundLevel(plan, of: measured, isOverdriven: true)
    #expect(abs((level.lufs ?? 0) - (target == -16 ? -16 : -1 - 20 * log10(2.0))) < 1e-9)
    #expect(SoundLevel(AudioPlan(input: .front, mode: .copy), of: measured, isOverdriven: true).factor == 1)
  }
}

@Suite("Loudness of outputs", .tags(.media))
struct LoudnessTests {
  private static func clip(
    _ color: MarkColor, level: Double, channels: Int = 2, codec: MarkedClip.Codec = .h264
  ) -> MarkedClip {
    var tone = MarkedClip.Tone(1000, channels: channels)
    tone.level = level
    return MarkedClip(color, codec: codec, tone: tone)
  }

  private static func definition(_ loudness: Double?) throws -> Definition {
    var definition = try MomentRun.definition()
    definition.outputs[.composed]?.composed?.loudness = loudness
    definition.outputs[.clipFront]?.clip?.loudness = loudness
    definition.outputs[.clipBack]?.clip?.loudness = loudness
    return definition
  }

  /// The amplitude of a sine of 1 kHz with a loudness on both channels.
  private static func amplitude(_ lufs: Double) -> Double { pow(10, lufs / 20) }

  @Test("the loudness of an input counts two channels, whether it has one or two", arguments: [1, 2])
  func inputs(channels: Int) throws {
    let run = try MomentRun(
      front: Self.clip(.red, level: 0.1, channels: channels).write(), back: MarkedClip(.blue).write())
    let inputs = run.report.verdict.inputs
    #expect(abs(try #require(inputs[.front]?.loudnessLufs) + 20) < 0.3 && inputs[.back]?.loudnessLufs == nil)
    for role in [Role.composed, .composedSmall, .clipFront] {
      #expect(run.facts(role)?.loudnessLufs == inputs[.front]?.loudnessLufs, "\(role.rawValue)")
    }
    for role in [Role.clipBack, .poster, .preview] { #expect(run.facts(role)?.loudnessLufs == nil) }
  }

  @Test(
    "a composition and an encoded clip have the loudness of the definition, in both modes; a copied clip keeps its own",
    arguments: [(0.02, ExecutionMode.throughput), (0.1, .latency), (0.7, .throughput)])
  func brought(level: Double, mode: ExecutionMode) throws {
    let run = try MomentRun(
      front: Self.clip(.red, level: level, codec: .hevc).write(), back: Self.clip(.blue, level: level).write(),
      definition: Self.definition(-16), mode: mode)
    #expect(run.isAccepted && run.plan?.composition?.audio == AudioPlan(input: .front, mode: .encode, loudness: -16))
    for role in [Role.composed, .composedSmall, .clipFront] {
      #expect(abs(try #require(run.facts(role)?.loudnessLufs) + 16) < 0.01)
      let strength = try #require(try run.video(role).audio()).strength(of: 1000)
      #expect(abs(strength / Self.amplitude(-16) - 1) < 0.06, "\(role.rawValue): \(strength)")
    }
    #expect(run.plan?.clips.last?.audio == AudioPlan(input: .back, mode: .copy))
    let kept = try #require(try run.video(.clipBack).audio()).strength(of: 1000)
    #expect(abs(kept / level - 1) < 0.06)
    #expect(abs(try #require(run.facts(.clipBack)?.loudnessLufs) - 20 * log10(level)) < 0.5)
  }

  @Test("a target near full scale is reached as far as the true peak allows")
  func limited() throws {
    let run = try MomentRun(
      front: Self.clip(.red, level: 0.1).write(), back: MarkedClip(.blue).write(), definition: Self.definition(0),
      roles: [.composed])
    let strength = try #require(try run.video(.composed).audio()).strength(of: 1000)
    // The encoded source overshoots its level by up to a decibel.
    #expect(abs(strength / Self.amplitude(-1) - 1) < 0.15)
    #expect(abs(try #require(run.facts(.composed)?.loudnessLufs) + 1) < 1.2)
  }

  @Test("silence has no gain")
  func silence() throws {
    let run = try MomentRun(
      front: Self.clip(.red, level: 0).write(), back: MarkedClip(.blue).write(), definition: Self.definition(-16),
      roles: [.composed])
    let audio = try #require(try run.video(.composed).audio())
    #expect(audio.samples.allSatisfy { abs($0) < 0.001 } && run.facts(.composed)?.loudnessLufs == nil)
  }
}
