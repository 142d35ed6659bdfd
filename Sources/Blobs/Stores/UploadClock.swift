package import FoundationEssentials
import Platform

/// The clock by which uploads expire: the system's, but a step forward does not count for a day. It costs no client an upload that it sends.
package struct UploadClock: Sendable {
  private static let shared = Locked(UploadClock(date: .now, instant: .now))
  private static let distrust = Duration.seconds(24 * 3600)
  /// The seconds by which the system's clock may gain between two calls without a step, as when it is slewed.
  private static let maxGain = 1.0

  private var date: Date
  private var instant: ContinuousClock.Instant
  /// When a step forward was noticed that does not count yet.
  private var step: ContinuousClock.Instant?

  package init(date: Date, instant: ContinuousClock.Instant) { (self.date, self.instant) = (date, instant) }

  /// The time now.
  package static var now: Date { shared.withLock { $0.time(date: .now, instant: .now) } }

  /// Returns the time when the system's clock shows `date`, at an instant of a clock that does not step.
  package mutating func time(date: Date, instant: ContinuousClock.Instant) -> Date {
    let steady = self.date.addingTimeInterval(self.instant.duration(to: instant) / .seconds(1))
    if date.timeIntervalSince(steady) > Self.maxGain {
      let since = step ?? instant
      step = since
      if since.duration(to: instant) <= Self.distrust { return steady }
    }
    self = UploadClock(date: date, instant: instant)
    return date
  }
}
