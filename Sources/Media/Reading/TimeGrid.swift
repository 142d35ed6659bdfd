import AV

/// The constant grid of time onto which clips of any frame rate are laid: slot k is shown from k / rate seconds on.
struct TimeGrid: Hashable, Sendable {
  /// Slots a second.
  let rate: Int

  /// One tick is one slot.
  var timeBase: Rational { Rational(1, Int32(rate)) }

  /// The first slot that shows a frame, whose time is rounded to the grid.
  ///
  /// Rounding, not cutting: a camera's frames come a little early or late, and would be doubled and dropped otherwise.
  func slot(of ticks: Int64, in timeBase: Rational) -> Int { Int(self.timeBase.rescale(ticks, from: timeBase)) }

  /// How many slots a span of time fills.
  func slots(in seconds: Double) -> Int { Int((seconds * Double(rate)).rounded()) }

  /// How many slots fit into a span of time without running over.
  func whole(in seconds: Double) -> Int { Int((seconds * Double(rate) + 1e-6).rounded(.down)) }

  /// How many seconds so many slots last.
  func seconds(_ slots: Int) -> Double { Double(slots) / Double(rate) }
}
