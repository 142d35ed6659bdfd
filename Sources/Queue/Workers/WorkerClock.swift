/// The monotonic clock of a worker; tests turn one of their own.
package protocol WorkerClock: Clock<Duration> where Instant == ContinuousClock.Instant {}

extension ContinuousClock: WorkerClock {}
