import AV
import Definitions
import Kernels
import MediaFixtures
import Model
import Platform
import SeededRandom
import Testing

@testable import Media

/// A clip whose rate changes: its parts one after the other.
struct PacedClip: CustomTestStringConvertible, Sendable {
  let parts: [(framesPerSecond: Double, seconds: Double)]
  /// Of so many frames one is missing; 0: none is.
  var missing = 0

  init(_ parts: (Double, Double)..., missing: Int = 0) {
    self.parts = parts.map { (framesPerSecond: $0.0, seconds: $0.1) }
    self.missing = missing
  }

  var seconds: Double { parts.reduce(0) { $0 + $1.seconds } }

  var times: [Double] {
    var times: [Double] = []
    var start = 0.0
    for part in parts {
      times += (0..<Int((part.framesPerSecond * part.seconds).rounded())).map {
        start + Double($0) / part.framesPerSecond
      }
      start += part.seconds
    }
    guard missing > 0 else { return times }
    return times.enumerated().filter { $0.offset % missing != missing / 2 }.map(\.element)
  }

  var testDescription: String {
    parts.map { "\($0.framesPerSecond) for \($0.seconds) s" }.joined(separator: ", ")
      + (missing > 0 ? ", one of \(missing) missing" : "")
  }

  static let varying = [
    PacedClip((30, 2.5), (10, 2.5)), PacedClip((10, 2.5), (30, 2.5)), PacedClip((30, 1.5), (15, 2), (30, 1.5)),
    PacedClip((60, 2.5), (24, 2.5)), PacedClip((24, 2.5), (30, 2.5)), PacedClip((10, 7.5), (30, 0.5)),
    PacedClip((12.5, 4)), PacedClip((30, 5), missing: 3), PacedClip((30, 5), missing: 5),
    PacedClip((30, 5), missing: 20), PacedClip((30, 5), missing: 100),
  ]
}

@Suite("The rate of the grid of a clip")
struct FrameRateTests {
  private func grid(_ times: [Double], limit: Int? = 60) -> TimeGrid {
    TimeGrid(rate: FrameRate(of: times, limit: limit).value)
  }

  /// The times of frames at a constant rate, each early or late by a normally distributed time, in seconds.
  private func times(_ framesPerSecond: Double, seconds: Double, jitter: Double) -> [Double] {
    var random = SplitMix64(seed: 7)
    return (0..<Int(seconds * framesPerSecond)).map { index in
      let sum = (0..<12).reduce(-6.0) { total, _ in total + Double.random(in: 0..<1, using: &random) }
      return max(0, Double(index) / framesPerSecond + (index == 0 ? 0 : sum * jitter))
    }.sorted()
  }

  @Test(
    "equals the frames' where it is constant, also with jitter and in a film's or television's thousandths",
    arguments: [10, 15, 20, 23.976, 24, 25, 29, 29.97, 30, 30.02, 48, 50, 59.94, 60], [0, 0.0003, 0.001])
  func constant(framesPerSecond: Double, jitter: Double) {
    for seconds in [0.5, 5, 30.0] {
      let times = times(framesPerSecond, seconds: seconds, jitter: jitter)
      #expect(grid(times) == TimeGrid(rate: Int(framesPerSecond.rounded())), "\(seconds) s")
      // As browsers write them, in whole milliseconds.
      let rounded = times.map { ($0 * 1000).rounded() / 1000 }
      #expect(grid(rounded) == TimeGrid(rate: Int(framesPerSecond.rounded())), "\(seconds) s in milliseconds")
    }
  }

  @Test(
    "is an even share of what is above the limit",
    arguments: [
      (60.6, 60, 60), (63, 60, 60), (72, 60, 36), (90, 60, 45), (100, 60, 50), (120, 60, 60), (240, 60, 60),
      (60, 24, 20), (50, 24, 24), (25, 24, 24), (30, 30, 30), (120, 30, 30),
    ] as [(Double, Int, Int)])
  func limited(framesPerSecond: Double, limit: Int, rate: Int) {
    let times = PacedClip((framesPerSecond, 5)).times
    #expect(grid(times, limit: limit) == TimeGrid(rate: rate))
    #expect(grid(times, limit: nil) == TimeGrid(rate: Int(framesPerSecond.rounded())))
  }

  @Test("leaves out no frame of a rate that varies up to the limit", arguments: PacedClip.varying)
  func varying(clip: PacedClip) {
    let (times, grid) = (clip.times, grid(clip.times))
    let shown = FramePacing.frames(at: times, ticks: grid.ticks(in: clip.seconds), of: grid)
    #expect(Set(shown).count == times.count)
    // Each frame begins near its time.
    for (tick, frame) in shown.enumerated() where tick == 0 || shown[tick - 1] != frame {
      #expect(abs(grid.seconds(tick) - times[frame]) <= 0.75 / Double(grid.rate) + 0.001, "frame \(frame)")
    }
  }

  @Test(
    "has the nearest frames of a part above the limit, and all of the others", arguments: [72.0, 90, 100, 120, 240],
    [10.0, 30, 48])
  func partlyAbove(above: Double, below: Double) {
    let clip = PacedClip((above, 2.5), (below, 2.5))
    let (times, grid) = (clip.times, grid(clip.times))
    #expect(grid == TimeGrid(rate: 60))
    let shown = FramePacing.frames(at: times, ticks: 300, of: grid)
    for tick in 0..<149 {
      #expect(abs(times[shown[tick]] - grid.seconds(tick)) <= 0.5 / above + 0.001, "tick \(tick)")
    }
    let slow = times.indices.filter { times[$0] >= 2.5 }
    #expect(Set(shown).isSuperset(of: slow))
  }

  @Test("exists for every list of times")
  func odd() {
    #expect(grid([]) == TimeGrid(rate: 60) && grid([0]) == TimeGrid(rate: 60) && grid([1, 1]) == TimeGrid(rate: 60))
    #expect(grid([0], limit: 0) == TimeGrid(rate: 1) && grid([0], limit: nil) == TimeGrid(rate: 60))
    #expect(grid([0, 1e-9, 1]) == TimeGrid(rate: 60) && grid([0, 1e9]) == TimeGrid(rate: 60))
    for ticks in [90_000, 2_147_483_647.0] {
      #expect(grid([0, 1 / ticks], limit: nil) == TimeGrid(rate: 60) && grid([0, 1 / ticks]) == TimeGrid(rate: 60))
    }
  }
}

@Suite("The encoded clip of a marker", .tags(.media))
struct MarkerRateTests {
  /// The number of each frame of the encoded clip, with its time in seconds, and the file.
  private static func frames(_ clip: PacedClip) throws -> (frames: [(number: Int, time: Double)], file: OpenFile) {
    let definition = try Definitions.markerVideo()
    let marked = MarkedClip(
      .green, width: 240, height: 136, times: clip.times, seconds: clip.seconds, codec: .hevc, tone: .init(440))
    let file = try marked.write()
    let facts = try Prober(limits: definition.limits).probe(file, as: .clip).get()
    let plan = Planner(definition).plan(clip: facts)
    #expect(plan.clips.map(\.mode) == [.encode])
    let files = try Dictionary(uniqueKeysWithValues: plan.outputs.map { ($0, try TemporaryFile.make()) })
    let report = try PlanRunner(plan, inputs: [.clip: file], outputs: files).run()
    #expect(report.verdict.reasons == [])
    let output = try #require(files[.clip])
    #expect(try CopiedClipTests.finding(TemporaryFile.bytes(of: output)) == nil)
    var frames: [(number: Int, time: Double)] = []
    try DecodedClip(output).forEachFrame { frame, seconds in
      frames.append((number: try #require(CounterBlocks.read(frame)), time: seconds))
    }
    return (frames, output)
  }

  @Test(
    "shows every frame of a rate up to the limit once, at its time",
    arguments: PacedClip.varying + [24.0, 25, 30, 50, 60].map { PacedClip(($0, 4)) })
  func complete(clip: PacedClip) throws {
    let (frames, file) = try Self.frames(clip)
    let decoded = try DecodedClip(file)
    let times = clip.times
    // The last two ticks may show the last frame again.
    let numbers = frames.map(\.number)
    #expect(numbers.starts(with: times.indices) && numbers.count <= times.count + 2, "\(numbers)")
    #expect(numbers.dropFirst(times.count).allSatisfy { $0 == times.count - 1 }, "\(numbers)")
    for (frame, time) in zip(frames, times) {
      #expect(abs(frame.time - time) <= 0.0135, "frame \(frame.number) of \(time) s is shown at \(frame.time) s")
    }
    #expect(abs(decoded.duration - clip.seconds) < 0.03, "it lasts \(decoded.duration) s")
    // By the sum of its sample durations, too, which some programs take for its end.
    let decoding = try DecodingTimesTests.packets(of: file)
    #expect(abs(decoding.seconds - clip.seconds) < 0.001, "it is decoded for \(decoding.seconds) s")
    let audio = try #require(try decoded.audio())
    #expect(abs(audio.start + Double(audio.samples.count) / 48_000 - clip.seconds) < 0.05)
  }

  @Test("shows every second frame of 90 per second")
  func even() throws {
    let numbers = try Self.frames(PacedClip((90, 2))).frames.map(\.number)
    #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $1 - $0 == 2 }, "\(numbers)")
    #expect(numbers.count == 90)
  }
}
