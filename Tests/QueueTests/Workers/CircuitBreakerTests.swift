import Queue
import Testing

@Suite("Circuit breaker")
struct CircuitBreakerTests {
  @Test(
    "it opens at the first failure, permits one job after a pause that doubles up to a minute, and closes at a success")
  func life() {
    var breaker = CircuitBreaker()
    var time = Duration.zero
    let atFirst = breaker.permits(of: 4, at: time)
    #expect(atFirst == 4)
    for seconds in [1, 2, 4, 8, 16, 32, 60, 60] {
      let pause = breaker.failed(at: time)
      let during = breaker.permits(of: 4, at: time + .seconds(seconds) - .milliseconds(1))
      time += .seconds(seconds)
      let after = breaker.permits(of: 4, at: time)
      #expect(pause == .seconds(seconds) && during == 0 && after == 1)
    }
    let isClosed = breaker.succeeded()
    let atEnd = breaker.permits(of: 4, at: time)
    let again = breaker.failed(at: time)
    #expect(isClosed && atEnd == 4 && again == .seconds(1))
  }

  @Test("an attempt that started before it opened neither closes it nor extends its pause")
  func late() {
    var breaker = CircuitBreaker()
    let first = breaker.failed(at: .zero)
    let second = breaker.failed(at: .zero)
    let isClosed = breaker.succeeded()
    #expect(first == .seconds(1) && second == nil && !isClosed)
    let before = breaker.permits(of: 2, at: .milliseconds(999))
    let after = breaker.permits(of: 2, at: .seconds(1))
    #expect(before == 0 && after == 1)
  }
}
