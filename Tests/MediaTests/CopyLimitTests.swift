import AV
import MediaFixtures
import Model
import Testing

@testable import Media

@Suite("Limits of copied clips", .tags(.media))
struct CopyLimitTests {
  private static func run(_ clip: MarkedClip, _ change: (inout Definition.CopyLimits) -> Void = { _ in }) throws
    -> MomentRun
  {
    var definition = try MomentRun.definition()
    var limits = try #require(definition.outputs[.clipFront]?.clip?.copy)
    change(&limits)
    definition.outputs[.clipFront]?.clip?.copy = limits
    return try MomentRun(
      front: clip.write(), back: MarkedClip(.blue).write(), definition: definition, roles: [.clipFront])
  }

  private static func demand(of clip: MarkedClip) throws -> DecoderDemand {
    let facts = try Prober(limits: MomentRun.definition().limits).probe(clip.write(), as: .clip).get()
    return try #require(facts.video.demand)
  }

  /// What x264 makes, by its parameters: the number of the profile, and whether it is copied.
  static let profiles: [(x264: String, profile: Int, isCopied: Bool)] = [
    ("cabac=0:8x8dct=0", 66, true), ("cabac=1:8x8dct=0", 77, true), ("cabac=1:8x8dct=1", 100, true),
    ("qp=0", 244, false),
  ]

  @Test("each profile that x264 makes is copied or encoded", arguments: profiles.indices)
  func profile(index: Int) throws {
    let (x264, profile, isCopied) = Self.profiles[index]
    var clip = MarkedClip(.red)
    clip.x264 = x264
    #expect(try Self.demand(of: clip).profile == profile)
    let run = try Self.run(clip)
    #expect(run.isAccepted && run.plan?.clips.map(\.mode) == [isCopied ? .remux : .encode], "\(run.choices(.clip))")
    // What is encoded has a profile that is copied.
    let stream = try #require(try run.video(.clipFront).stream(.video))
    #expect(stream.codec == "h264")
    #expect(try ClipOutputTests.numbers(run.video(.clipFront)) == Array(0..<150))
  }

  @Test(
    "a clip of 240 frames per second whose parameter sets name a lower level is encoded, unless the level allows it")
  func level() throws {
    var clip = MarkedClip(.red, seconds: 4.6, framesPerSecond: 240)
    clip.x264 = "level=30"
    // 510 macroblocks: 122,400 in a second.
    #expect(try Self.demand(of: clip).level == 3.2)
    #expect(try Self.run(clip) { $0.level = 3.1 }.plan?.clips.map(\.mode) == [.encode])
    let run = try Self.run(clip) { $0.level = 3.2 }
    #expect(run.isAccepted && run.plan?.clips.map(\.mode) == [.remux])
  }

  @Test("the longer edge and the bit rate are limits of their own")
  func edgeAndBits() throws {
    let clip = MarkedClip(.red)
    let bits = try Self.demand(of: clip).bitsPerSecond
    #expect(bits > 1000 && bits < 10_000_000)
    #expect(try Self.run(clip) { ($0.longEdge, $0.bitsPerSecond) = (480, bits) }.plan?.clips.map(\.mode) == [.remux])
    #expect(try Self.run(clip) { $0.longEdge = 479 }.plan?.clips.map(\.mode) == [.encode])
    let run = try Self.run(clip) { $0.bitsPerSecond = bits - 1 }
    #expect(run.isAccepted && run.plan?.clips.map(\.mode) == [.encode])
  }
}

@Suite("The load of a decoder")
struct DecoderLoadTests {
  private static let ticks = Rational(1, 1000)

  @Test("the busiest second counts, and jitter hardly does")
  func busiest() {
    let even = (0..<150).map { Int64($0 * 1000 / 30) }
    let load = DecoderLoad(even, even.map { _ in 1000 }, first: nil, seconds: 5, Self.ticks)
    #expect(load.framesPerSecond == 30 && load.bitsPerSecond == 240_000)
    // Half at 120 frames per second, half at 20.
    let fast: [Int64] = (0..<300).map { $0 * 25 / 3 }
    let slow: [Int64] = (0..<50).map { 2500 + $0 * 50 }
    let burst = fast + slow
    #expect(DecoderLoad(burst, burst.map { _ in 1 }, first: nil, seconds: 5, Self.ticks).framesPerSecond == 120)
    let jittered: [Int64] = (0..<300).map { (index: Int64) in index * 50 / 3 + (index % 2 == 0 ? 5 : -5) }
    #expect(
      (60...62).contains(
        DecoderLoad(jittered, jittered.map { _ in 1 }, first: nil, seconds: 5, Self.ticks).framesPerSecond))
  }

  @Test("of a clip that is cut the copied frames count, and of a short one the mean rate")
  func parts() {
    let starts = (0..<60).map { Int64($0 * 25) }
    let half = DecoderLoad(starts, (0..<60).map { $0 < 20 ? 500 : 50_000 }, first: 20, seconds: 0.5, Self.ticks)
    #expect(half.framesPerSecond == 40 && half.bitsPerSecond == 160_000)
    let none = DecoderLoad([], [], first: nil, seconds: 0, Self.ticks)
    #expect(none.framesPerSecond == 0 && none.bitsPerSecond == 0)
  }
}
