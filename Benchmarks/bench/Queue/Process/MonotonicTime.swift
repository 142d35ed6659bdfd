import Glibc

/// A time of `CLOCK_MONOTONIC`, which all processes of the machine share, whatever they are written in.
struct MonotonicTime: Sendable, Hashable {
  let nanoseconds: Int64

  static var now: MonotonicTime {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return MonotonicTime(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
  }

  /// Seconds from one time to another.
  static func - (later: MonotonicTime, earlier: MonotonicTime) -> Double {
    Double(later.nanoseconds - earlier.nanoseconds) / 1e9
  }

  /// So many seconds later.
  static func + (time: MonotonicTime, seconds: Double) -> MonotonicTime {
    MonotonicTime(nanoseconds: time.nanoseconds + Int64(seconds * 1e9))
  }

  /// Blocks the calling thread until then.
  func wait() {
    var time = timespec(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
    while clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nil) == EINTR {}
  }
}
