import QueueWorker
import Testing

@Suite("A circuit breaker")
struct CircuitBreakerTests {
  @Test(
    "opens with the first failure, lets one try after a pause that doubles up to a minute, and closes with a success")
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
    let inTheEnd = breaker.permits(of: 4, at: time)
    let again = breaker.failed(at: time)
    #expect(isClosed && inTheEnd == 4 && again == .seconds(1))
  }

  @Test("what was begun before it opened neither closes it nor makes its pause longer")
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
