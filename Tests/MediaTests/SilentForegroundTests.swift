import AV
import MediaFixtures
import Model
import Testing

@testable import Media

@Suite("Silent foregrounds", .tags(.media))
struct SilentForegroundTests {
  private static func clip(_ color: MarkColor, _ frequency: Double, level: Double = 0.4) -> MarkedClip {
    var tone = MarkedClip.Tone(frequency)
    tone.level = level
    return MarkedClip(color, tone: tone)
  }

  private static func level(_ audio: DecodedAudio) -> Double {
    (audio.samples.reduce(0) { $0 + Double($1) * Double($1) } / Double(max(1, audio.samples.count))).squareRoot()
  }

  @Test(
    "a composition with a silent foreground has the other clip's sound, copied or encoded, in both modes",
    arguments: ExecutionMode.allCases, [2, 6])
  func other(mode: ExecutionMode, channels: Int) throws {
    var back = Self.clip(.blue, 1000)
    back.tone?.channels = channels
    let file = try back.write()
    let run = try MomentRun(front: Self.clip(.red, 440, level: 0).write(), back: file, mode: mode)
    #expect(run.isAccepted && run.report.verdict.moment?.sound == .back)
    #expect(!run.warnings.contains(.silentAudio))
    let decision = try #require(run.report.verdict.decisions.last { $0.subject == .audio })
    #expect(decision.input == .back && decision.choice == (channels == 2 ? "copy" : "encode"))
    let source = try #require(try run.video(.clipBack).audio())
    for role in [Role.composed, .composedSmall] {
      let audio = try #require(try run.video(role).audio())
      #expect(audio.strength(of: 1000) > 0.1)
      #expect(abs(Self.level(audio) / Self.level(source) - 1) < 0.05, "\(role.rawValue)")
    }
    // The playable clip stays as it was filmed.
    #expect(Self.level(try #require(try run.video(.clipFront).audio())) < 0.001)
  }

  @Test("the level of the other clip's sound is a decision, too")
  func overdriven() throws {
    var back = Self.clip(.blue, 440, level: 1)
    back.format = .mov
    back.tone?.encoder = "pcm_f32le"
    back.tone?.channels = 1
    back.tone?.isSquare = true
    let run = try MomentRun(front: Self.clip(.red, 440, level: 0).write(), back: back.write(), roles: [.composed])
    #expect(run.isAccepted && run.report.verdict.moment?.sound == .back)
    #expect(run.choices(.audio).contains("6 dB quieter"), "\(run.choices(.audio))")
  }

  @Test("each of two compositions has the sound of its foreground, or of the other clip")
  func swapped() throws {
    var definition = try MomentRun.definition()
    definition.outputs[.composedSwapped] = definition.outputs[.composed]
    let run = try MomentRun(
      front: Self.clip(.red, 440, level: 0).write(), back: Self.clip(.blue, 1000).write(), definition: definition,
      roles: [.composed, .composedSwapped])
    for role in [Role.composed, .composedSwapped] {
      #expect(try #require(try run.video(role).audio()).strength(of: 1000) > 0.3)
    }
    #expect(run.report.verdict.moment?.sound == .back)
  }

  static let kept: [(front: Double, back: Double, hasKey: Bool, warnings: [InputName])] = [
    (0, 0, true, [.front, .back]), (0.4, 0, true, [.back]), (0.4, 0.4, true, []), (0, 0.4, false, [.front]),
  ]

  @Test("the foreground's sound is kept if it is not silent, if both are, or without the key", arguments: kept.indices)
  func keeps(index: Int) throws {
    let (front, back, hasKey, warnings) = Self.kept[index]
    var definition = try MomentRun.definition()
    if !hasKey { definition.outputs[.composed]?.composed?.silent = nil }
    let run = try MomentRun(
      front: Self.clip(.red, 440, level: front).write(), back: Self.clip(.blue, 1000, level: back).write(),
      definition: definition, roles: [.composed])
    let silent = run.report.verdict.warnings.filter { $0.code == .silentAudio }.compactMap(\.input)
    #expect(Set(silent) == Set(warnings) && run.report.verdict.moment?.sound == nil)
    let audio = try #require(try run.video(.composed).audio())
    #expect(front > 0 ? audio.strength(of: 440) > 0.3 : Self.level(audio) < 0.001)
  }
}

@Suite("The choice of a composition's sound")
struct SoundChoiceTests {
  private static func plan(other: Bool) throws -> CompositionPlan {
    CompositionPlan(
      role: .composed, canvas: try MomentRun.definition().canvas, background: .back, foreground: .front, tiles: [],
      video: Definition.VideoEncoding(preset: "superfast", crf: 23), audio: AudioPlan(input: .front, mode: .copy),
      otherAudio: other ? AudioPlan(input: .back, mode: .encode) : nil, seconds: SecondsRange(shortest: 1, longest: 5))
  }

  @Test(
    "the other sound is taken if the planned one alone is silent",
    arguments: [
      ([], true, InputName.front), ([.front], true, .back), ([.back], true, .front), ([.front, .back], true, .front),
      ([.front], false, .front),
    ] as [(Set<InputName>, Bool, InputName)])
  func choice(silent: Set<InputName>, hasOther: Bool, chosen: InputName) throws {
    let choice = SoundChoice(try Self.plan(other: hasOther)) { silent.contains($0) }
    #expect(choice.plan.audio?.input == chosen)
    #expect((choice.decision == nil) == (chosen == .front) && choice.replaced == (chosen == .front ? nil : .front))
  }
}
