import Store
import Telemetry
import Testing

@testable import take5

@Suite("The watch over the clock")
struct ClockWatchTests {
  @Test("the offset from the clock of the database is a metric as long as it is measured")
  func measured() {
    let metrics = Metrics()
    let watch = ClockWatch(Logger(lowest: .error), metrics)
    let start = ContinuousClock.now
    func values(after pause: Duration) -> [Double] { watch.gauges(at: start + pause).map(\.value) }
    #expect(values(after: .zero).isEmpty)
    watch.note(ClockOffset(seconds: 10, error: 1), at: start)
    #expect(values(after: .zero) == [9])
    #expect(values(after: ClockWatch.interval * 2) == [9])
    #expect(metrics.text().contains("take5_clock_offset_seconds 9\n"))
    // The database is away.
    #expect(values(after: ClockWatch.interval * 3).isEmpty)
    watch.note(ClockOffset(seconds: 0, error: 0), at: start + ClockWatch.interval * 4)
    #expect(values(after: ClockWatch.interval * 4) == [0])
  }
}
