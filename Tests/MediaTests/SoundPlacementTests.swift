import AV
import BoxTesting
import MediaFixtures
import MediaMutation
import Model
import Testing

@testable import Media

@Suite("The time of encoded sound", .tags(.media))
struct SoundPlacementTests {
  /// What a recorder does to the durations of frames by their index, in samples of 1024 at 48 kHz.
  struct Clock: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let duration: @Sendable (Int) -> Int64

    static let all = [
      Clock("even") { _ in 1024 }, Clock("eight gaps of 15 ms") { 1024 + ($0.isEighth ? 720 : 0) },
      Clock("eight gaps of 30 ms") { 1024 + ($0.isEighth ? 1440 : 0) },
      Clock("eight overlaps of 15 ms") { 1024 - ($0.isEighth ? 720 : 0) }, Clock("1 % slow") { _ in 1034 },
      Clock("1 % fast") { _ in 1014 }, Clock("jitter of 15 ms") { 1024 + ($0 % 2 == 0 ? 720 : -720) },
    ]

    init(_ description: String, _ duration: @escaping @Sendable (Int) -> Int64) {
      (testDescription, self.duration) = (description, duration)
    }
  }

  @Test("follows its timestamps within 20 ms, and no sample is left out or added without need", arguments: Clock.all)
  func placed(clock: Clock) {
    var placement = SoundPlacement()
    var (start, written) = (Int64(4800), 4800.0)
    var corrections = 0
    for index in 0..<1400 {
      let before = written
      switch placement.place(start, lasting: 1024) {
      case .following: written += 1024
      case .behindGap: written = Double(start) + 1024
      case .overlapping(let count): written += 1024 - Double(count)
      case .repeated: break
      }
      if written != before + 1024 { corrections += 1 }
      #expect(abs(written - Double(start) - 1024) <= SoundPlacement.maxDrift, "frame \(index)")
      start += clock.duration(index)
    }
    #expect((corrections == 0) == ["even", "jitter of 15 ms"].contains(clock.testDescription))
    // A second of a clock that is 1 % off is 10 ms.
    #expect(corrections <= 17, "\(corrections)")
  }

  @Test("of other rates adds up without rounding", arguments: [8000, 11_025, 22_050, 44_100, 96_000])
  func otherRates(rate: Int) {
    var placement = SoundPlacement()
    for index in 0..<Int64(3000) {
      let start = Int64((Double(index * 1024) * 48_000 / Double(rate)).rounded())
      #expect(placement.place(start, lasting: 1024 * 48_000 / Double(rate)) == .following)
    }
  }

  @Test("of frames that come again or start too early differs from the sound that is written already")
  func overlapping() {
    var placement = SoundPlacement()
    #expect(placement.place(0, lasting: 4096) == .following)
    #expect(placement.place(0, lasting: 4096) == .repeated)
    #expect(placement.place(-90_000, lasting: 4096) == .repeated)
    #expect(placement.place(3136, lasting: 4096) == .following)
    #expect(placement.place(8192 - 2000, lasting: 4096) == .overlapping(2000))
    #expect(placement.place(8192 + 2096, lasting: 4096) == .following)
    #expect(placement.place(.max, lasting: 1) == .behindGap)
    #expect(placement.place(.min, lasting: 1) == .repeated)
  }

  @Test("equals the source's in the outputs", arguments: Clock.all)
  func encoded(clock: Clock) throws {
    // Six channels are encoded, not copied.
    let file = try MomentTests.clip(.red, channels: 6).write()
    var movie = try #require(SampledMovie(try TemporaryFile.bytes(of: file)))
    let track = try #require(movie.tracks.firstIndex { $0.entry == "mp4a" })
    for index in movie.tracks[track].samples.indices.dropLast() {
      movie.tracks[track].samples[index].duration = clock.duration(index)
    }
    let run = try MomentRun(front: TemporaryFile.make(movie.bytes), back: MarkedClip(.blue).write())
    #expect(run.codes == [])
    #expect(run.plan?.composition?.audio?.mode == .encode)
    let source = try #require(try DecodedClip(file).audio())
    // Behind the last gap, where it is loudest.
    let loud = 175_000..<197_000
    let first = try #require(loud.max { abs(source.samples[$0]) < abs(source.samples[$1]) })
    let sample = first + Int((source.start * 48_000).rounded())
    // One frame primes the decoder.
    let late = (0..<(sample + 1024) / 1024).reduce(0) { $0 + Int(clock.duration($1)) - 1024 }
    for role in [Role.composed, .clipFront] {
      let audio = try #require(try run.video(role).audio())
      let expected = sample + late - Int((audio.start * 48_000).rounded())
      try #require(expected + 4000 + Self.window < audio.samples.count, "\(role.rawValue) ends too early")
      let agreements = (-4000...4000).map { Self.agreement(audio, expected + $0, source, first) }
      let best = try #require(agreements.indices.max { agreements[$0] < agreements[$1] }) - 4000
      #expect(abs(best) <= 1000, "\(role.rawValue) is off by \(best) samples")
    }
  }

  private static let window = 4096

  /// The correlation of two sounds from a sample of each on, relative to the energy of the first.
  private static func agreement(_ one: DecodedAudio, _ start: Int, _ other: DecodedAudio, _ otherStart: Int) -> Float {
    var (product, energy): (Float, Float) = (0, 1e-9)
    for index in 0..<window {
      product += one.samples[start + index] * other.samples[otherStart + index]
      energy += one.samples[start + index] * one.samples[start + index]
    }
    return product / energy.squareRoot()
  }
}

extension Int {
  /// Whether it is one of the indices 20, 40 and so on up to 160.
  fileprivate var isEighth: Bool { self > 0 && self <= 160 && self % 20 == 0 }
}

@Suite("The level of encoded sound", .tags(.media))
struct EncodedLevelTests {
  /// The peak of the encoded sound, the amplitude of its tone, and the decisions on it.
  private static func encoded(
    level: Double, isSquare: Bool, mode: ExecutionMode = .throughput
  ) throws -> (peak: Float, strength: Double, choices: [String]) {
    var front = MarkedClip(.red, tone: .init(440, channels: 1))
    front.format = .mov
    front.tone?.encoder = "pcm_f32le"
    front.tone?.level = level
    front.tone?.isSquare = isSquare
    let file = try front.write()
    let run = try MomentRun(front: file, back: MarkedClip(.blue).write(), mode: mode)
    #expect(run.codes == [] && run.plan?.composition?.audio?.mode == .encode)
    let audio = try #require(try run.video(.composed).audio())
    // The first look has the bytes of the run.
    let look = try LookRun(of: run, front: file, back: MarkedClip(.blue).write(), mode: mode)
    try look.expectOutputs(of: run, "\(level)")
    return (audio.samples.map(abs).max() ?? 0, audio.strength(of: 440), run.choices(.audio))
  }

  @Test("does not exceed full scale where the source is cut off there", arguments: ExecutionMode.allCases)
  func overdriven(mode: ExecutionMode) throws {
    let (peak, strength, choices) = try Self.encoded(level: 1, isSquare: true, mode: mode)
    #expect(peak <= 1 && abs(strength - 0.5 * 4 / .pi) < 0.05, "\(peak), \(strength)")
    #expect(choices == ["encode", "6 dB quieter"])
  }

  @Test("equals the source's where it is not loud throughout", arguments: [(0.4, false), (0.4, true), (0.85, false)])
  func ordinary(level: Double, isSquare: Bool) throws {
    let (peak, strength, choices) = try Self.encoded(level: level, isSquare: isSquare)
    #expect(peak <= 1 && abs(strength - level * (isSquare ? 4 / .pi : 1)) < 0.05, "\(peak), \(strength)")
    #expect(choices == ["encode"])
  }
}
