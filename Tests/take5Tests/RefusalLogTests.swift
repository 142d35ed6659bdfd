import HTTPServer
import Platform
import Testing

@testable import take5

@Suite("Refusals in the log")
struct RefusalLogTests {
  @Test("a client is told of once for each limit and while, and a crowd does not fill the log")
  func lines() throws {
    var log = RefusalLog()
    let start = ContinuousClock.now
    let client = try #require(IPAddress("192.0.2.7"))
    let tells = [
      log.tells(.address, of: client, at: start), log.tells(.address, of: client, at: start + .seconds(9)),
      log.tells(.streams, of: client, at: start + .seconds(9)),
      log.tells(.address, of: client, at: start + RefusalLog.interval),
    ]
    #expect(tells == [true, false, true, true])
    let crowd = (0..<250).compactMap { IPAddress("198.51.100.\($0)") }
    let told = crowd.filter { log.tells(.address, of: $0, at: start + RefusalLog.interval) }
    #expect(told.count == RefusalLog.most - 1)
  }
}
