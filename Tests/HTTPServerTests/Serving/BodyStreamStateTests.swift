import Testing

@testable import HTTPServer

/// The decisions of a streamed body, step by step, without a network.
struct BodyStreamStateTests {
  private let start = ContinuousClock.now

  private func chunk(_ count: Int) -> [UInt8] { [UInt8](repeating: 1, count: count) }

  private func read(_ state: inout BodyStreamState, room: Int = 100) -> BodyStreamState.Step {
    withUnsafeTemporaryAllocation(byteCount: room, alignment: 1) { state.read(into: $0) }
  }

  @Test func sendsWhatWasWrittenAndWaitsForMore() {
    var state = BodyStreamState(maxWaiting: 100)
    #expect(!state.canProceed)
    #expect(read(&state) == .wait)
    #expect(state.write(chunk(60), at: start) == true)
    #expect(state.canProceed)
    #expect(read(&state, room: 50) == .send(50))
    #expect(state.write(chunk(5), at: start) == true)
    #expect(read(&state) == .send(15))
    #expect(read(&state) == .wait)
    #expect(state.sentBytes == 65)
  }

  @Test func keepsTheOrderOfPartlySentBytes() {
    var state = BodyStreamState(maxWaiting: 100)
    var sent: [UInt8] = []
    for byte in UInt8(0)..<200 {
      #expect(state.write([byte, byte], at: start) == true)
      withUnsafeTemporaryAllocation(byteCount: byte < 20 ? 1 : 3, alignment: 1) { buffer in
        if case .send(let count) = state.read(into: buffer) { sent += buffer.prefix(count) }
      }
    }
    #expect(sent == (UInt8(0)..<200).flatMap { [$0, $0] })
  }

  @Test func givesUpAClientThatLetsTooMuchWait() {
    var state = BodyStreamState(maxWaiting: 100)
    #expect(state.write(chunk(60), at: start) == true)
    #expect(state.write(chunk(40), at: start) == true)
    #expect(state.write(chunk(1), at: start) == false)
    #expect(state.isCut && state.canProceed)
    #expect(read(&state) == .close)
  }

  @Test func takesSomethingTooLongWhileNothingWaits() {
    var state = BodyStreamState(maxWaiting: 100)
    #expect(state.write(chunk(200), at: start) == true)
    #expect(state.write(chunk(1), at: start) == false)
  }

  @Test func finishesAfterWhatWasWritten() {
    var state = BodyStreamState(maxWaiting: 100)
    #expect(state.write(chunk(10), at: start) == true)
    state.finish()
    #expect(state.write(chunk(10), at: start) == false)
    #expect(read(&state) == .send(10))
    #expect(state.canProceed)
    #expect(read(&state) == .end)
  }

  @Test func beatsAfterASilenceOnly() {
    var state = BodyStreamState(maxWaiting: 100)
    // Before the answer begins there is nobody to write to.
    state.beat(chunk(3), at: start + .seconds(60), after: .seconds(15))
    #expect(!state.canProceed)
    state.open(at: start, until: start + .seconds(3600))
    state.beat(chunk(3), at: start + .seconds(14), after: .seconds(15))
    #expect(!state.canProceed)
    #expect(state.write(chunk(10), at: start + .seconds(14)) == true)
    #expect(read(&state) == .send(10))
    state.beat(chunk(3), at: start + .seconds(28), after: .seconds(15))
    #expect(!state.canProceed)
    state.beat(chunk(3), at: start + .seconds(29), after: .seconds(15))
    #expect(state.canProceed)
    // A client that has not taken one heartbeat gets no second.
    state.beat(chunk(3), at: start + .seconds(60), after: .seconds(15))
    #expect(read(&state) == .send(3))
    #expect(read(&state) == .wait)
  }

  @Test func finishesAtItsDeadline() {
    var state = BodyStreamState(maxWaiting: 100)
    state.open(at: start, until: start + .seconds(10))
    state.beat(chunk(3), at: start + .seconds(10), after: .seconds(5))
    #expect(read(&state) == .end)
  }

  @Test func endsOnce() {
    var state = BodyStreamState(maxWaiting: 100)
    #expect(state.write(chunk(10), at: start) == true)
    #expect(state.end() == true)
    #expect(state.end() == false)
    #expect(state.write(chunk(10), at: start) == false)
    state.cut()
    #expect(!state.isCut)
    #expect(read(&state) == .close)
  }
}
