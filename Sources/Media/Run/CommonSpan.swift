import Model

/// The time span that both clips of a composition show.
struct CommonSpan: Hashable {
  /// The number of ticks of each clip before the span; empty if the clips start together.
  let shifts: [InputName: Int]
  /// The duration, in seconds. A clip that ends earlier holds its last frame.
  let seconds: Double
  /// What is left of the offset between the clips, in seconds: they have too little in common to be aligned further.
  let rest: Double
  /// The decision to hold a frame of an aligned clip, or not to align the clips as far as they are apart; nil: neither.
  let decision: Decision?

  /// - Parameters:
  ///   - durations: of the clips, in seconds.
  ///   - wanted: the shifts that align the clips.
  ///   - shortest: the shortest span, in seconds.
  ///   - maxHeld: the longest time for which the clip that ends too early for it holds its last frame, in seconds.
  init(
    of durations: [InputName: Double], wanted: [InputName: Int], grid: TimeGrid, shortest: Double, maxHeld: Double
  ) {
    let (common, unaligned) = (Self.seconds(durations, wanted, grid), durations.values.min() ?? 0)
    guard common < shortest, let (early, ticks) = wanted.first, let duration = durations[early] else {
      (shifts, seconds, rest, decision) = (wanted, common, 0, nil)
      return
    }
    let needed = min(shortest, unaligned)
    // Clips that are too short without a shift are refused; no frame is held for them.
    let held = unaligned < shortest - DurationRule.tolerance ? 0 : max(0, min(maxHeld, needed))
    let applied = min(ticks, grid.wholeTicks(in: max(0, duration - needed + held)))
    shifts = applied > 0 ? [early: applied] : [:]
    seconds = max(needed, Self.seconds(durations, shifts, grid))
    rest = grid.seconds(ticks - applied)
    let left = duration - grid.seconds(applied)
    decision = Self.decision(
      early, isShifted: applied > 0, rest: rest, held: seconds - left, shortest: shortest)
  }

  // ITU-R BT.1359-1: viewers notice sound that is 45 ms before the picture, and later sound only from 125 ms on. A frame of 30 per second is
  // less: what the grid rounds off is no reason to film again.
  private static let noticed = 0.045

  /// The warning that the clips are apart by what a viewer notices; nil if they are not, or their offset is not known.
  var warning: Warning? {
    rest < Self.noticed
      ? nil
      : Warning(
        .notAligned, input: nil,
        finding: "the composed clips are \(rest.hundredths) s apart, because they have too little in common")
  }

  private static func decision(
    _ early: InputName, isShifted: Bool, rest: Double, held: Double, shortest: Double
  ) -> Decision? {
    let isHeld = held > DurationRule.tolerance
    guard rest > 0 || isHeld else { return nil }
    let applied = !isShifted ? "not applied" : rest == 0 ? "applied" : "applied but for \(rest.hundredths) s"
    let hold = isShifted && isHeld ? "; the \(early.rawValue) holds its last frame for \(held.hundredths) s" : ""
    return Decision(
      .alignment, choice: applied + hold, reason: "the clips would have less than \(shortest.hundredths) s in common")
  }

  /// The number of ticks of each clip before a span of aligned clips.
  ///
  /// - Parameter offset: the time of an event in the front clip minus its time in the back clip, in seconds; nil: none.
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
  /// The span that all inputs show, which is to last at least `shortest` seconds, with a frame that is held for at most `maxHeld`.
  func commonSpan(shortest: Double, maxHeld: Double) -> CommonSpan {
    let durations = inputs.compactMap { input in input.scan.map { (input.name, $0.seconds) } }
    return CommonSpan(
      of: Dictionary(uniqueKeysWithValues: durations), wanted: shifts, grid: grid, shortest: shortest, maxHeld: maxHeld)
  }
}
