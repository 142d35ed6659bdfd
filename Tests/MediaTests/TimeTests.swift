import AV
import Kernels
import MediaFixtures
import Model
import Testing

@testable import Media

@Suite("Time", .tags(.media))
struct TimeTests {
  /// Timestamps at 30 per second with gaps: one of ten is missing, and each is up to 5 ms early or late.
  static let uneven: [Double] = (0..<150).filter { $0 % 10 != 3 }.map { index in
    let jitter = [-0.005, 0.004, 0, 0.005, -0.003][index % 5]
    return max(0, Double(index) / 30 + jitter)
  }

  @Test("frames of a variable rate are mapped to the grid by their timestamps")
  func variableFrameRate() throws {
    let run = try MomentRun(
      front: MarkedClip(.red, times: Self.uneven, seconds: 5).write(), back: MarkedClip(.blue).write())
    #expect(run.isAccepted)
    let inset = try #require(run.plan?.composition?.inset)
    var tick = 0
    try run.video(.composed).forEachFrame { frame, _ in
      let composed = ComposedFrame(frame, inset: inset)
      #expect(composed.background == tick)
      // The inset shows the last frame up to this tick.
      let expected = try #require(Self.uneven.lastIndex { ($0 * 30).rounded() <= Double(tick) })
      #expect(composed.inset == expected)
      tick += 1
    }
    #expect(tick == 150)
  }

  @Test("clips of any constant rate stay in sync", arguments: [24.0, 25, 29.97, 60, 120, 240])
  func rates(framesPerSecond: Double) throws {
    let run = try MomentRun(
      front: MarkedClip(.red, seconds: 5, framesPerSecond: framesPerSecond).write(),
      back: MarkedClip(.blue).write())
    #expect(run.isAccepted)
    let inset = try #require(run.plan?.composition?.inset)
    try run.video(.composed).forEachFrame { frame, seconds in
      let composed = ComposedFrame(frame, inset: inset)
      let number = try #require(composed.inset)
      // Within half a tick and one frame; counters have eight bits.
      let distance = abs((seconds * framesPerSecond).truncatingRemainder(dividingBy: 256) - Double(number))
      #expect(min(distance, 256 - distance) <= max(1, framesPerSecond / 60), "at \(seconds) s")
    }
  }

  @Test("a clip whose video starts late counts from its first frame")
  func lateStart() throws {
    let times = (0..<150).map { 0.4 + Double($0) / 30 }
    let front = MarkedClip(.red, times: times, seconds: 5.4, tone: .init(440, delay: 0.9))
    let run = try MomentRun(front: front.write(), back: MarkedClip(.blue).write())
    #expect(run.isAccepted)
    try CompositionTests.expectMarks(run, inside: .red, outside: .blue, frames: 150)
    for role in [Role.composed, .clipFront] {
      let onset = try #require(try run.video(role).audio()?.onset())
      #expect(abs(onset - 0.5) < 0.022, "\(role.rawValue) has its onset at \(onset) s")
    }
  }

  @Test("a frozen clip stays frozen while the other one moves")
  func frozen() throws {
    var front = MarkedClip(.red)
    front.frozenFrom = 60
    let run = try MomentRun(front: front.write(), back: MarkedClip(.blue).write())
    let inset = try #require(run.plan?.composition?.inset)
    var last: (Int?, Int?) = (nil, nil)
    try run.video(.composed).forEachFrame { frame, _ in
      let composed = ComposedFrame(frame, inset: inset)
      last = (composed.inset, composed.background)
    }
    #expect(last == (60, 149))
  }

  @Test("time spans are whole numbers of ticks")
  func grid() {
    let grid = TimeGrid(rate: 30)
    #expect(grid.ticks(in: 4.99) == 150)
    #expect(grid.wholeTicks(in: 5.034) == 151)
  }
}
