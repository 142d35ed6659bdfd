import Glibc
internal import Platform

/// What a run of programs used, all their descendants counted that were waited for.
struct Cost: Sendable {
  /// User and system time in seconds.
  let processor: Double
  /// By the clock, in seconds.
  let elapsed: Double

  /// Runs commands one after another; each must end with status 0.
  static func measuring(_ commands: [Command]) throws -> Cost {
    let clock = ContinuousClock()
    let before = usedByChildren()
    let start = clock.now
    for command in commands { try command.run() }
    let elapsed = (clock.now - start) / .seconds(1)
    return Cost(processor: usedByChildren() - before, elapsed: elapsed)
  }

  private static func usedByChildren() -> Double {
    var usage = rusage()
    getrusage(RUSAGE_CHILDREN.rawValue, &usage)
    return [usage.ru_utime, usage.ru_stime].reduce(0) { $0 + Double($1.tv_sec) + Double($1.tv_usec) / 1e6 }
  }
}
