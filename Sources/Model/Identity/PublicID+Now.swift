import FoundationEssentials
import Synchronization

extension PublicID {
  // The time of the last one, in steps of 1/4096 of a millisecond.
  private static let last = Atomic<UInt64>(0)

  /// An id for a record that is made now; of two that one process makes the later sorts behind the earlier.
  ///
  /// Twelve of the random bits are a fraction of the millisecond (RFC 9562, section 6.2, method 3). Where the clock stands
  /// still or goes back, the last time is counted on.
  package static func now() -> PublicID {
    let steps = UInt64(max(0, Date().timeIntervalSince1970 * 1000 * 4096))
    var before = last.load(ordering: .relaxed)
    while true {
      let next = max(steps, before + 1)
      let (isDone, found) = last.compareExchange(expected: before, desired: next, ordering: .relaxed)
      if isDone { return PublicID(steps: next, low: .random(in: .min ... .max)) }
      before = found
    }
  }

  private init(steps: UInt64, low: UInt64) {
    self.init(
      high: (steps >> 12 & 0xFFFF_FFFF_FFFF) << 16 | 0x7000 | (steps & 0x0FFF),
      low: 0x8000_0000_0000_0000 | (low & 0x3FFF_FFFF_FFFF_FFFF))
  }
}
