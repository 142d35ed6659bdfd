import Model

/// The time span that both clips of a composition show.
struct CommonSpan: Hashable {
  /// The number of ticks of each clip before the span; empty if the clips start together.
  let shifts: [InputName: Int]
  /// The duration, in seconds.
  let seconds: Double
  /// The decision not to align the clips; nil if they are aligned, or their offset is not known.
  let decision: Decision?

  /// - Parameters:
  ///   - durations: of the clips, in seconds.
  ///   - offset: the time of an event in the front clip minus its time in the back clip, in seconds; nil: none.
  ///   - shortest: the shortest span for which the clips are aligned, in seconds.
  init(of durations: [InputName: Double], offset: Double?, grid: TimeGrid, shortest: Double) {
    let shifts = Self.shifts(offset: offset, grid: grid)
    let seconds = Self.seconds(durations, shifts, grid)
    if shifts.isEmpty || seconds >= shortest {
      (self.shifts, self.seconds, decision) = (shifts, seconds, nil)
    } else {
      self.shifts = [:]
      self.seconds = Self.seconds(durations, [:], grid)
      decision = Decision(
        .alignment, choice: "not applied",
        reason: "the clips would have less than \(shortest.hundredths) s in common")
    }
  }

  /// The number of ticks of each clip before a span of aligned clips.
  ///
  /// - Parameter offset: as above.
  static func shifts(offset: Double?, grid: TimeGrid) -> [InputName: Int] {
    let ticks = offset.map { Int(($0 * Double(grid.rate)).rounded()) } ?? 0
    return ticks == 0 ? [:] : ticks > 0 ? [.front: ticks] : [.back: -ticks]
  }

  /// The duration that remains of the shortest clip.
  private static func seconds(
    _ durations: [InputName: Double], _ shifts: [InputName: Int], _ grid: TimeGrid
  ) -> Double {
    durations.map { $0.value - grid.seconds(shifts[$0.key] ?? 0) }.min() ?? 0
  }
}

extension ScannedInputs {
  /// The span that all inputs show, if it is to last at least `shortest` seconds.
  func commonSpan(shortest: Double) -> CommonSpan {
    let durations = inputs.compactMap { input in input.scan.map { (input.name, $0.seconds) } }
    return CommonSpan(
      of: Dictionary(uniqueKeysWithValues: durations), offset: offset, grid: grid, shortest: shortest)
  }
}
