import SeededRandom
import Testing

@testable import Media

@Suite("The frame that a tick shows", .tags(.media))
struct FramePacingTests {
  /// The indices of the frames that the ticks of five seconds show.
  private func shown(_ times: [Double], rate: Int = 30) -> [Int] {
    let grid = TimeGrid(rate: rate)
    var pacing = FramePacing(grid)
    var current = 0
    return (0..<5 * rate).map { number in
      let tick = grid.seconds(number)
      while current + 1 < times.count, pacing.prefersFollowing(times[current + 1], to: times[current], at: tick) {
        current += 1
      }
      pacing.finish(tick, shown: times[current])
      return current
    }
  }

  /// The times of six seconds, each early or late by a normally distributed time with a standard deviation, in seconds.
  private func times(_ framesPerSecond: Double, jitter: Double) -> [Double] {
    var random = SplitMix64(seed: 7)
    return (0..<Int(6 * framesPerSecond)).map { index in
      let sum = (0..<12).reduce(-6.0) { total, _ in total + Double.random(in: 0..<1, using: &random) }
      return max(0, Double(index) / framesPerSecond + (index == 0 ? 0 : sum * jitter))
    }.sorted()
  }

  @Test(
    "is the nearest one at every rate and with jitter, and the pictures are on the average at the time of the sound",
    arguments: [24, 25, 29.97, 30, 50, 59.94, 60, 120, 240], [0, 0.0003, 0.001])
  func nearest(framesPerSecond: Double, jitter: Double) {
    let times = times(framesPerSecond, jitter: jitter)
    let frames = shown(times)
    var lead = 0.0
    for (number, frame) in frames.enumerated() {
      let tick = Double(number) / 30
      let distance = abs(times[frame] - tick)
      let least = times.map { abs($0 - tick) }.min() ?? 0
      // Two frames may be equally near.
      #expect(distance <= least + 0.002, "tick \(number)")
      lead += times[frame] - tick
    }
    // 29.97 frames a second are 5 ms behind 30 after five seconds.
    #expect(abs(lead / Double(frames.count)) < 0.0026)
  }

  @Test(
    "advances in even steps where the rate is a multiple of the grid's", arguments: [30, 60, 120, 240],
    [0, 0.0003, 0.001])
  func even(framesPerSecond: Double, jitter: Double) {
    let frames = shown(times(framesPerSecond, jitter: jitter))
    let step = Int(framesPerSecond / 30)
    let odd = zip(frames, frames.dropFirst()).count { $1 - $0 != step }
    // At 240 per second, a jitter of a millisecond puts another frame nearer now and then.
    #expect(odd <= (framesPerSecond == 240 && jitter == 0.001 ? 40 : 0), "\(odd) steps are not \(step)")
  }

  @Test("advances in even steps although the first interval puts all frames half-way between two ticks")
  func halfWay() {
    var times = times(30, jitter: 0.0005)
    times = [0] + times.dropFirst().map { $0 + 0.5 / 30 }
    let frames = shown(times)
    #expect(zip(frames, frames.dropFirst()).count { $1 - $0 != 1 } <= 2, "\(frames)")
  }

  @Test("stays for the duration that a slow camera gave it", arguments: [10.0, 15])
  func slow(framesPerSecond: Double) {
    let times = (0..<Int(6 * framesPerSecond)).map { Double($0) / framesPerSecond }
    let each = Int(30 / framesPerSecond)
    #expect(shown(times) == (0..<150).map { $0 / each })
    // A pause of a second.
    #expect(shown([0, 1, 2]) == (0..<150).map { min(2, $0 / 30) })
  }
}
