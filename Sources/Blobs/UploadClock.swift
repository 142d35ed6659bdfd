package import FoundationEssentials
import Platform

/// The clock by which uploads expire: the system's, but a step forward does not count for a day. It costs no client an upload that it sends.
package struct UploadClock: Sendable {
  private static let shared = Locked(UploadClock(date: .now, instant: .now))
  private static let distrust = Duration.seconds(24 * 3600)

  private var date: Date
  private var instant: ContinuousClock.Instant

  package init(date: Date, instant: ContinuousClock.Instant) { (self.date, self.instant) = (date, instant) }

  /// The time now.
  package static var now: Date { shared.withLock { $0.time(date: .now, instant: .now) } }

  /// Returns the time when the system's clock shows `date`, at an instant of a clock that does not step.
  package mutating func time(date: Date, instant: ContinuousClock.Instant) -> Date {
    let elapsed = self.instant.duration(to: instant)
    let steady = self.date.addingTimeInterval(elapsed / .seconds(1))
    guard date <= steady || elapsed > Self.distrust else { return steady }
    self = UploadClock(date: date, instant: instant)
    return date
  }
}
