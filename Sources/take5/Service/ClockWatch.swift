import Platform
import Postgres
import Store
import Telemetry

/// Compares the clock of this machine with the clock of the database while a service or a worker runs.
final class ClockWatch: Sendable {
  private struct State {
    var next: ContinuousClock.Instant?
    var last: (offset: ClockOffset, measuredAt: ContinuousClock.Instant)?
    var report = LastingReport()
  }

  /// The time between two comparisons.
  static let interval = Duration.seconds(30)

  /// The time for which a comparison counts: without its database, a machine whose clock has been set since would seem to be wrong.
  private static let validity = interval * 3

  private let log: Logger
  private let state = Locked(State())

  init(_ log: Logger, _ metrics: Metrics) {
    self.log = log
    metrics.measure { [weak self] in self?.gauges(at: .now) ?? [] }
  }

  /// The offset of the last comparison; none if that was too long ago.
  func gauges(at now: ContinuousClock.Instant) -> [MetricGauge] {
    guard let last = state.withLock(\.last), last.measuredAt.duration(to: now) < Self.validity else { return [] }
    return [
      MetricGauge(
        "take5_clock_offset_seconds",
        "Seconds by which the clock of this machine is ahead of the database's clock, without the error of the measurement.",
        [:], last.offset.certain)
    ]
  }

  /// Compares the clocks by one statement, if the last comparison is old enough: in a transaction that is made anyway.
  func compare(_ session: Session) throws {
    let isDue = state.withLock { state in
      let now = ContinuousClock.now
      if let next = state.next, now < next { return false }
      state.next = now + Self.interval
      return true
    }
    if isDue { note(try ClockOffset(session), at: .now) }
  }

  /// Compares the clocks of a process that makes no such transaction, until the task is cancelled.
  func run(_ pool: Pool) async {
    while !Task.isCancelled {
      // Without a database there is nothing to compare with, and others report that.
      do { try await pool.run { session in try compare(session) } } catch {}
      do { try await Task.sleep(for: Self.interval) } catch { return }
    }
  }

  /// Takes the result of a comparison.
  func note(_ offset: ClockOffset, at now: ContinuousClock.Instant) {
    state.withLock { $0.last = (offset, now) }
    if offset.isWrong {
      guard state.withLock({ $0.report.isDue(at: now) }) else { return }
      log.warning(
        "the clocks of this machine and of the database differ",
        [
          "ahead_seconds": "\((offset.seconds * 10).rounded() / 10)",
          "remedy": "let chrony or systemd-timesyncd set the clocks of both machines",
        ])
    } else if state.withLock({ $0.report.end() }) {
      log.info("the clocks of this machine and of the database agree again")
    }
  }
}
