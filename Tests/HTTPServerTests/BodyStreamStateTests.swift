import Testing

@testable import HTTPServer

/// Tests of the state of a streamed body, without a network.
struct BodyStreamStateTests {
  private let start = ContinuousClock.now

  private func chunk(_ count: Int) -> [UInt8] { [UInt8](repeating: 1, count: count) }

  private func read(_ state: inout BodyStreamState, size: Int = 100) -> BodyStreamState.Step {
    withUnsafeTemporaryAllocation(byteCount: size, alignment: 1) { state.read(into: $0) }
  }

  @Test("written bytes are sent; without unsent bytes, the connection waits")
  func sendsWrittenBytes() {
    var state = BodyStreamState(maxUnsentBytes: 100)
    #expect(!state.canProceed)
    #expect(read(&state) == .wait)
    #expect(state.write(chunk(60), at: start) == true)
    #expect(state.canProceed)
    #expect(read(&state, size: 50) == .send(50))
    #expect(state.write(chunk(5), at: start) == true)
    #expect(read(&state) == .send(15))
    #expect(read(&state) == .wait)
    #expect(state.sentBytes == 65)
  }

  @Test("bytes are sent in the order of the writes")
  func order() {
    var state = BodyStreamState(maxUnsentBytes: 100)
    var sent: [UInt8] = []
    for byte in UInt8(0)..<200 {
      #expect(state.write([byte, byte], at: start) == true)
      withUnsafeTemporaryAllocation(byteCount: byte < 20 ? 1 : 3, alignment: 1) { buffer in
        if case .send(let count) = state.read(into: buffer) { sent += buffer.prefix(count) }
      }
    }
    #expect(sent == (UInt8(0)..<200).flatMap { [$0, $0] })
  }

  @Test("a write that exceeds the backlog closes the connection")
  func backlog() {
    var state = BodyStreamState(maxUnsentBytes: 100)
    #expect(state.write(chunk(60), at: start) == true)
    #expect(state.write(chunk(40), at: start) == true)
    #expect(state.write(chunk(1), at: start) == false)
    #expect(state.isCut && state.canProceed)
    #expect(read(&state) == .close)
  }

  @Test("a write longer than the backlog is accepted while nothing is unsent")
  func longWrite() {
    var state = BodyStreamState(maxUnsentBytes: 100)
    #expect(state.write(chunk(200), at: start) == true)
    #expect(state.write(chunk(1), at: start) == false)
  }

  @Test("a finished stream ends after the written bytes")
  func finishes() {
    var state = BodyStreamState(maxUnsentBytes: 100)
    #expect(state.write(chunk(10), at: start) == true)
    state.finish()
    #expect(state.write(chunk(10), at: start) == false)
    #expect(read(&state) == .send(10))
    #expect(state.canProceed)
    #expect(read(&state) == .end)
  }

  @Test("the heartbeat is written only after its interval without a write")
  func heartbeat() {
    var state = BodyStreamState(maxUnsentBytes: 100)
    // Before the response starts, there is no heartbeat.
    state.sendHeartbeat(chunk(3), at: start + .seconds(60), after: .seconds(15))
    #expect(!state.canProceed)
    state.open(at: start, until: start + .seconds(3600))
    state.sendHeartbeat(chunk(3), at: start + .seconds(14), after: .seconds(15))
    #expect(!state.canProceed)
    #expect(state.write(chunk(10), at: start + .seconds(14)) == true)
    #expect(read(&state) == .send(10))
    state.sendHeartbeat(chunk(3), at: start + .seconds(28), after: .seconds(15))
    #expect(!state.canProceed)
    state.sendHeartbeat(chunk(3), at: start + .seconds(29), after: .seconds(15))
    #expect(state.canProceed)
    // While a heartbeat is unsent, no second one is written.
    state.sendHeartbeat(chunk(3), at: start + .seconds(60), after: .seconds(15))
    #expect(read(&state) == .send(3))
    #expect(read(&state) == .wait)
  }

  @Test("a stream finishes at its deadline")
  func deadline() {
    var state = BodyStreamState(maxUnsentBytes: 100)
    state.open(at: start, until: start + .seconds(10))
    state.sendHeartbeat(chunk(3), at: start + .seconds(10), after: .seconds(5))
    #expect(read(&state) == .end)
  }

  @Test("a stream ends once")
  func endsOnce() {
    var state = BodyStreamState(maxUnsentBytes: 100)
    #expect(state.write(chunk(10), at: start) == true)
    #expect(state.end() == true)
    #expect(state.end() == false)
    #expect(state.write(chunk(10), at: start) == false)
    state.cut()
    #expect(!state.isCut)
    #expect(read(&state) == .close)
  }
}
