import Glibc

/// A point in time by both of a machine's clocks: the one that the database shares, and the one that nobody sets.
package struct Moment: Sendable, Hashable {
  /// Microseconds since 1970-01-01 UTC (CLOCK_REALTIME).
  package let wall: Int64
  /// Microseconds since the machine started (CLOCK_MONOTONIC), the same in all its processes.
  package let steady: Int64

  package init(wall: Int64, steady: Int64) {
    self.wall = wall
    self.steady = steady
  }

  package static var now: Moment {
    Moment(wall: microseconds(CLOCK_REALTIME), steady: microseconds(CLOCK_MONOTONIC))
  }

  private static func microseconds(_ clock: clockid_t) -> Int64 {
    var time = timespec()
    clock_gettime(clock, &time)
    return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
  }
}
