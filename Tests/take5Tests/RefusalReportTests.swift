import Platform
import Testing

@testable import take5

@Suite("Refusals in the log")
struct RefusalReportTests {
  @Test("somebody is told of once for each limit and while, and a crowd does not fill the log")
  func lines() {
    var lines = RefusalReport.Lines()
    let start = ContinuousClock.now
    let client = "192.0.2.7"
    let tells = [
      lines.begin("address", client, at: start), lines.begin("address", client, at: start + .seconds(9)),
      lines.begin("streams", client, at: start + .seconds(9)),
      lines.begin("address", client, at: start + RefusalReport.Lines.interval),
    ]
    #expect(tells == [true, false, true, true])
    let told = (0..<250).filter {
      lines.begin("address", "198.51.100.\($0)", at: start + RefusalReport.Lines.interval)
    }
    #expect(told.count == RefusalReport.Lines.most - 1)
  }
}
