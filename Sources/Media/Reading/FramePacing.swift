import AV

/// Decides which frame of a clip each tick of the grid shows: the nearest in time, with steps as even as the source's.
///
/// A tick half-way between two frames has two nearest ones, and the jitter of the timestamps must not choose between them. Consecutive
/// ticks of that kind choose alike: otherwise frames are shown twice and left out in turn. The first of them chooses what brings the
/// pictures nearer to the sound on the average.
struct FramePacing {
  /// The distance from the middle between two frames, in seconds, within which both count as equally near.
  private static let tolerance = 0.001

  /// How much before its time a frame may be shown, in seconds.
  let earliest: Double
  /// The sum of the times of the shown frames minus the times of their ticks, in seconds.
  private var lead = 0.0
  /// Whether the tick before, with two nearest frames, has shown the later one; nil: it had one.
  private var previous: Bool?
  private var chosen: Bool?

  init(_ grid: TimeGrid) { earliest = grid.seconds(1) * 0.75 }

  /// Whether a tick shows the following frame, or a later one, rather than the current one.
  ///
  /// - Parameters:
  ///   - current, following: the times of the frames, in seconds.
  ///   - tick: the time of the tick.
  mutating func prefersFollowing(_ following: Double, to current: Double, at tick: Double) -> Bool {
    // A frame that is shown for long, as cameras record it in the dark, stays until the next one is due. At 20 frames per second and
    // more, on a grid of 30, the nearest frame is less early.
    guard following - tick < earliest else { return false }
    let middle = (current + following) / 2 - tick
    guard abs(middle) <= min(Self.tolerance, (following - current) / 16) else { return middle < 0 }
    let choice = previous ?? (lead < 0)
    chosen = choice
    return choice
  }

  /// Ends a tick.
  ///
  /// - Parameter shown: the time of the frame that it shows.
  mutating func finish(_ tick: Double, shown: Double) {
    lead += shown - tick
    (previous, chosen) = (chosen, nil)
  }
}

extension FramePacing {
  /// The index of the frame that each of the first ticks of a grid shows.
  ///
  /// - Parameter times: of the frames, in seconds, ascending; at least one.
  static func frames(at times: [Double], ticks: Int, of grid: TimeGrid) -> [Int] {
    var pacing = FramePacing(grid)
    var current = 0
    var frames: [Int] = []
    frames.reserveCapacity(ticks)
    for tick in 0..<ticks {
      let time = grid.seconds(tick)
      while current + 1 < times.count, pacing.prefersFollowing(times[current + 1], to: times[current], at: time) {
        current += 1
      }
      pacing.finish(time, shown: times[current])
      frames.append(current)
    }
    return frames
  }
}

extension PacketScan {
  /// The mean of the times of the frames that ticks show minus the ticks' times, in seconds: frames at 29.97 per second are shown
  /// ever earlier on a grid of 30. A frame that is held, as of a slow camera or in a pause, is late by right, and does not count.
  func lead(in ticks: Range<Int>, of grid: TimeGrid) -> Double {
    guard !times.isEmpty else { return 0 }
    let times = frameSeconds
    let earliest = FramePacing(grid).earliest
    let frames = FramePacing.frames(at: times, ticks: ticks.upperBound, of: grid)
    let leads = ticks.map { times[frames[$0]] - grid.seconds($0) }.filter { abs($0) <= earliest }
    return leads.isEmpty ? 0 : leads.reduce(0, +) / Double(leads.count)
  }
}
