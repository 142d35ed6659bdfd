import AV
import Kernels
import MediaFixtures
import Model
import Testing

@testable import Media

@Suite("Time", .tags(.media))
struct TimeTests {
  /// Thirty pictures a second with gaps: the third of each ten is missing, and each comes up to 5 ms early or late.
  static let uneven: [Double] = (0..<150).filter { $0 % 10 != 3 }.map { index in
    let jitter = [-0.005, 0.004, 0, 0.005, -0.003][index % 5]
    return max(0, Double(index) / 30 + jitter)
  }

  @Test("a variable frame rate is laid onto the grid by each picture's time")
  func variableFrameRate() throws {
    let run = try MomentRun(
      front: MarkedClip(.red, times: Self.uneven, seconds: 5).write(), back: MarkedClip(.blue).write())
    #expect(run.isAccepted)
    let inset = try #require(run.plan?.composition?.inset)
    var slot = 0
    try run.video(.composed).forEachPicture { picture, _ in
      let composed = ComposedFrame(picture, inset: inset)
      #expect(composed.background == slot)
      // The inset shows the picture that the camera made last.
      let expected = try #require(Self.uneven.lastIndex { ($0 * 30).rounded() <= Double(slot) })
      #expect(composed.inset == expected)
      slot += 1
    }
    #expect(slot == 150)
  }

  @Test("any constant rate keeps both clips together", arguments: [24.0, 25, 29.97, 60, 120, 240])
  func rates(framesPerSecond: Double) throws {
    let run = try MomentRun(
      front: MarkedClip(.red, seconds: 5, framesPerSecond: framesPerSecond).write(),
      back: MarkedClip(.blue).write())
    #expect(run.isAccepted)
    let inset = try #require(run.plan?.composition?.inset)
    try run.video(.composed).forEachPicture { picture, seconds in
      let composed = ComposedFrame(picture, inset: inset)
      let number = try #require(composed.inset)
      // Within half a slot and a picture; counters are eight bits wide.
      let distance = abs((seconds * framesPerSecond).truncatingRemainder(dividingBy: 256) - Double(number))
      #expect(min(distance, 256 - distance) <= max(1, framesPerSecond / 60), "at \(seconds) s")
    }
  }

  @Test("a clip whose pictures begin late counts from its first picture")
  func lateStart() throws {
    let times = (0..<150).map { 0.4 + Double($0) / 30 }
    let front = MarkedClip(.red, times: times, seconds: 5.4, tone: .init(440, delay: 0.9))
    let run = try MomentRun(front: front.write(), back: MarkedClip(.blue).write())
    #expect(run.isAccepted)
    try CompositionTests.expectMarks(run, inside: .red, outside: .blue, pictures: 150)
    for role in [Role.composed, .clipFront] {
      let onset = try #require(try run.video(role).sound()?.onset())
      #expect(abs(onset - 0.5) < 0.022, "\(role.rawValue) is heard from \(onset) s on")
    }
  }

  @Test("a frozen camera shows")
  func frozen() throws {
    var front = MarkedClip(.red)
    front.frozenFrom = 60
    let run = try MomentRun(front: front.write(), back: MarkedClip(.blue).write())
    let inset = try #require(run.plan?.composition?.inset)
    var last: (Int?, Int?) = (nil, nil)
    try run.video(.composed).forEachPicture { picture, _ in
      let composed = ComposedFrame(picture, inset: inset)
      last = (composed.inset, composed.background)
    }
    #expect(last == (60, 149))
  }

  @Test("a picture belongs to the slot that is nearest to its time")
  func grid() {
    let grid = TimeGrid(rate: 30)
    let base = Rational(1, 1000)
    #expect([0, 16, 17, 33, 49, 50, 67].map { grid.slot(of: $0, in: base) } == [0, 0, 1, 1, 1, 2, 2])
    #expect(grid.slots(in: 4.99) == 150)
    #expect(grid.whole(in: 5.034) == 151)
  }
}
