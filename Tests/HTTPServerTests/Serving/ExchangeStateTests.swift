import Testing

@testable import HTTPServer

/// The decisions of an exchange, step by step, without a network.
struct ExchangeStateTests {
  private func state(hasBody: Bool = true, body: Int64 = 1000, buffered: Int = 100) -> ExchangeState {
    ExchangeState(hasBody: hasBody, limits: .init(body: body, buffered: buffered))
  }

  private func chunk(_ count: Int) -> [UInt8] { [UInt8](repeating: 1, count: count) }

  @Test func takesNothingUntilTheHandlerReads() {
    var state = state()
    #expect(state.headArrived().name == "wait")
    #expect(!state.canProceed)
    #expect(state.read().name == "wait")
    #expect(state.canProceed)
    #expect(state.resumed().name == "proceed")
  }

  @Test func waitsAtTheLimitAndGoesOnBelowHalf() {
    var state = state()
    _ = (state.read(), state.headArrived())
    #expect(state.arrived(chunk(60)).name == "proceed")
    #expect(state.arrived(chunk(60)).name == "wait")
    #expect(!state.canProceed)
    #expect(state.read().name == "chunk 120")
    #expect(state.canProceed)
    #expect(state.read().name == "wait")
    #expect(state.ended().name == "wait")
    #expect(state.read().name == "end")
  }

  @Test func smallChunksAreParkedTogether() {
    var state = state(body: 1 << 20, buffered: 64 << 10)
    _ = (state.read(), state.headArrived())
    var sent = 0
    while case .proceed = state.arrived(chunk(1)) { sent += 1 }
    #expect(sent == 64 << 10 - 1)
    var pieces = 0
    while case .chunk = state.read() { pieces += 1 }
    #expect(pieces == 4)
  }

  @Test func whoGivesUpEndsWithoutAnAnswerUnlessThereIsOne() {
    var state = state()
    _ = (state.read(), state.headArrived())
    var answered = state
    state.giveUp()
    #expect(state.resumed().name == "close")
    answered.answer(Response(.badRequest))
    answered.giveUp()
    #expect(answered.resumed().name == "answer 400 early")
  }

  @Test func anEarlyAnswerGoesOutBeforeTheBody() {
    var state = state()
    state.answer(Response(.badRequest))
    #expect(state.canProceed)
    #expect(state.headArrived().name == "answer 400 early")
  }

  @Test func anAnswerDoesNotWaitForTheRestOfTheBody() {
    var state = state()
    _ = (state.read(), state.headArrived(), state.arrived(chunk(60)))
    state.answer(Response(.badRequest))
    var other = state
    #expect(state.arrived(chunk(50)).name == "answer 400 early")
    #expect(other.ended().name == "answer 400")
  }

  @Test func whoWaitsGoesOnWithTheAnswer() {
    var state = state()
    _ = (state.read(), state.headArrived(), state.arrived(chunk(100)))
    #expect(!state.canProceed)
    state.answer(Response(.badRequest))
    #expect(state.canProceed)
    #expect(state.resumed().name == "answer 400 early")
  }

  @Test func theFirstAnswerCounts() {
    var state = state(hasBody: false)
    _ = state.headArrived()
    state.answer(Response(.ok))
    state.answer(Response(.badRequest))
    #expect(state.ended().name == "answer 200")
  }

  @Test func nothingIsWaitedForAfterTheAnswer() {
    var early = state()
    early.answer(Response(.badRequest))
    #expect(early.headArrived().name == "answer 400 early")
    #expect(early.ended().name == "close")
    var late = state(hasBody: false)
    _ = late.headArrived()
    late.answer(Response(.ok))
    #expect(late.ended().name == "answer 200")
    #expect(late.ended().name == "close")
  }

  @Test func aBodyThatGrowsTooLongFailsAfterWhatFitted() {
    var state = state(body: 100)
    _ = (state.read(), state.headArrived(), state.arrived(chunk(90)))
    #expect(state.arrived(chunk(20)).name == "wait")
    #expect(state.read().name == "chunk 90")
    #expect(state.read().name == "tooLarge(limit: 100)")
  }

  @Test func whatCameBeforeADisconnectIsReadFirst() {
    var state = state()
    _ = (state.read(), state.headArrived(), state.arrived(chunk(10)))
    state.fail(.disconnected, cutting: true)
    #expect(state.read().name == "chunk 10")
    #expect(state.read().name == "disconnected")
    #expect(state.arrived(chunk(1)).name == "close")
  }

  @Test func aWholeRequestIsWholeEvenIfItsClientLeft() {
    var state = state()
    _ = (state.read(), state.headArrived(), state.arrived(chunk(10)), state.ended())
    state.fail(.disconnected, cutting: true)
    #expect(state.read().name == "chunk 10")
    #expect(state.read().name == "end")
  }

  @Test func nobodyReadsOnWhenCancelled() {
    var state = state()
    _ = (state.read(), state.headArrived(), state.arrived(chunk(10)))
    state.fail(.cancelled, cutting: false)
    #expect(state.read().name == "cancelled")
  }
}

extension ExchangeState.Step {
  fileprivate var name: String {
    switch self {
    case .proceed: "proceed"
    case .wait: "wait"
    case .close: "close"
    case .answer(let response, let isEarly): "answer \(response.status.code)" + (isEarly ? " early" : "")
    }
  }
}

extension ExchangeState.Read {
  fileprivate var name: String {
    switch self {
    case .chunk(let bytes): "chunk \(bytes.count)"
    case .end: "end"
    case .wait: "wait"
    case .failure(let error): "\(error)"
    }
  }
}
