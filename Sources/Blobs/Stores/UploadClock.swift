package import FoundationEssentials
import Platform

/// The clock by which uploads expire: the system's, but a step forward does not count for a day. It costs no client an upload that it sends.
package struct UploadClock: Sendable {
  private static let start = ContinuousClock.now
  private static let shared = Locked(UploadClock(date: .now, instant: start))
  private static let distrust = Duration.seconds(24 * 3600)
  /// The seconds by which the system's clock may gain between two calls without a step, as when it is slewed.
  private static let maxGain = 1.0

  private var date: Date
  private var instant: ContinuousClock.Instant
  /// When a step forward was noticed that does not count yet.
  private var step: ContinuousClock.Instant?

  package init(date: Date, instant: ContinuousClock.Instant) { (self.date, self.instant) = (date, instant) }

  /// The time now.
  package static var now: Date { time(at: .now) }

  /// The time at which this process began to look at the clock. A process that starts after a step does not notice it: an upload whose
  /// last byte seems to be older may have got it a moment ago.
  package static var began: Date {
    let instant = ContinuousClock.now
    return time(at: instant).addingTimeInterval(-(start.duration(to: instant) / .seconds(1)))
  }

  private static func time(at instant: ContinuousClock.Instant) -> Date {
    shared.withLock { $0.time(date: .now, instant: instant) }
  }

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
