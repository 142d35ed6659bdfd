import Testing

@testable import HTTPServer

/// Tests of the time for a body, without a clock.
struct BodyTimeTests {
  private let start = ContinuousClock.now
  private let configuration = ServerConfiguration()

  private func time(_ maxBytes: Int64, isResumable: Bool = false) -> BodyTime {
    var time = BodyTime(maxBytes: maxBytes, isResumable: isResumable, configuration)
    time.resume(at: start)
    return time
  }

  @Test("a short body has ten seconds as a whole")
  func short() {
    var time = time(64 << 10)
    for second in 1...9 {
      time.received(6000, at: start + .seconds(second))
      #expect(!time.isOver(at: start + .seconds(second)))
    }
    #expect(!time.isOver(at: start + .milliseconds(9999)))
    #expect(time.isOver(at: start + .seconds(10)))
  }

  @Test("a long body of single bytes ends within about a minute", arguments: [false, true])
  func trickle(isResumable: Bool) {
    var time = time(isResumable ? 100 : 64 << 10 + 1, isResumable: isResumable)
    for second in stride(from: 5, through: 60, by: 5) { time.received(1, at: start + .seconds(second)) }
    #expect(!time.isOver(at: start + .seconds(60)))
    #expect(time.isOver(at: start + .seconds(61)))
  }

  @Test("an upload of 10 kB/s that pauses for as long as a connection may be idle goes on")
  func pauses() {
    var time = time(64 << 20)
    var now = start
    for _ in 0..<200 {
      now += configuration.idleTimeout
      #expect(!time.isOver(at: now))
      for _ in 0..<4 {
        time.received(10_000, at: now)
        now += .seconds(1)
      }
    }
  }

  @Test("what was sent fast does not permit a longer pause later")
  func fast() {
    var time = time(64 << 20)
    time.received(32 << 20, at: start)
    #expect(!time.isOver(at: start + .seconds(59)))
    #expect(time.isOver(at: start + .seconds(60)))
  }

  @Test("the time of the handler does not count as the client's")
  func handler() {
    var time = time(64 << 10)
    time.pause(at: start + .seconds(4))
    #expect(!time.isOver(at: start + .seconds(500)))
    time.resume(at: start + .seconds(500))
    #expect(!time.isOver(at: start + .seconds(505)))
    #expect(time.isOver(at: start + .seconds(506)))
  }
}
