import Testing

@testable import HTTPServer

/// Tests of the state of a request, without a network.
struct RequestStateTests {
  private func state(hasBody: Bool = true, body: Int64 = 1000, buffered: Int = 100) -> RequestState {
    RequestState(hasBody: hasBody, limits: .init(body: body, buffered: buffered))
  }

  private func chunk(_ count: Int) -> [UInt8] { [UInt8](repeating: 1, count: count) }

  @Test("no body is received before the handler reads")
  func waitsForReader() {
    var state = state()
    #expect(state.headArrived().name == "wait")
    #expect(!state.canProceed)
    #expect(state.read().name == "wait")
    #expect(state.canProceed)
    #expect(state.resumed().name == "proceed")
  }

  @Test("receiving stops at the buffer limit and continues below half of it")
  func bufferLimit() {
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

  @Test("small chunks are joined")
  func joinsChunks() {
    var state = state(body: 1 << 20, buffered: 64 << 10)
    _ = (state.read(), state.headArrived())
    var sent = 0
    while case .proceed = state.arrived(chunk(1)) { sent += 1 }
    #expect(sent == 64 << 10 - 1)
    var pieces = 0
    while case .chunk = state.read() { pieces += 1 }
    #expect(pieces == 4)
  }

  @Test("a request without a response closes the connection")
  func withoutResponse() {
    var state = state()
    _ = (state.read(), state.headArrived())
    var responded = state
    state.endWithoutResponse()
    #expect(state.resumed().name == "close")
    responded.respond(Response(.badRequest))
    responded.endWithoutResponse()
    #expect(responded.resumed().name == "respond 400 early")
  }

  @Test("an early response is sent before the body is received")
  func earlyResponse() {
    var state = state()
    state.respond(Response(.badRequest))
    #expect(state.canProceed)
    #expect(state.headArrived().name == "respond 400 early")
  }

  @Test("a response is sent before the rest of the body is received")
  func responseWithinBody() {
    var state = state()
    _ = (state.read(), state.headArrived(), state.arrived(chunk(60)))
    state.respond(Response(.badRequest))
    var other = state
    #expect(state.arrived(chunk(50)).name == "respond 400 early")
    #expect(other.ended().name == "respond 400")
  }

  @Test("a waiting connection continues with the response")
  func continuesWithResponse() {
    var state = state()
    _ = (state.read(), state.headArrived(), state.arrived(chunk(100)))
    #expect(!state.canProceed)
    state.respond(Response(.badRequest))
    #expect(state.canProceed)
    #expect(state.resumed().name == "respond 400 early")
  }

  @Test("the first response is used")
  func firstResponse() {
    var state = state(hasBody: false)
    _ = state.headArrived()
    state.respond(Response(.ok))
    state.respond(Response(.badRequest))
    #expect(state.ended().name == "respond 200")
  }

  @Test("after the response, the connection closes")
  func closesAfterResponse() {
    var early = state()
    early.respond(Response(.badRequest))
    #expect(early.headArrived().name == "respond 400 early")
    #expect(early.ended().name == "close")
    var late = state(hasBody: false)
    _ = late.headArrived()
    late.respond(Response(.ok))
    #expect(late.ended().name == "respond 200")
    #expect(late.ended().name == "close")
  }

  @Test("a body that exceeds the limit fails after the bytes within the limit")
  func bodyLimit() {
    var state = state(body: 100)
    _ = (state.read(), state.headArrived(), state.arrived(chunk(90)))
    #expect(state.arrived(chunk(20)).name == "wait")
    #expect(state.read().name == "chunk 90")
    #expect(state.read().name == "tooLarge(limit: 100)")
  }

  @Test("bytes that were received before a disconnect are read first")
  func disconnect() {
    var state = state()
    _ = (state.read(), state.headArrived(), state.arrived(chunk(10)))
    state.fail(.disconnected, cutting: true)
    #expect(state.read().name == "chunk 10")
    #expect(state.read().name == "disconnected")
    #expect(state.arrived(chunk(1)).name == "close")
  }

  @Test("a complete request remains complete after its client disconnects")
  func disconnectAfterRequest() {
    var state = state()
    _ = (state.read(), state.headArrived(), state.arrived(chunk(10)), state.ended())
    state.fail(.disconnected, cutting: true)
    #expect(state.read().name == "chunk 10")
    #expect(state.read().name == "end")
  }

  @Test("a read fails immediately after cancellation")
  func cancellation() {
    var state = state()
    _ = (state.read(), state.headArrived(), state.arrived(chunk(10)))
    state.fail(.cancelled, cutting: false)
    #expect(state.read().name == "cancelled")
  }
}

extension RequestState.Step {
  fileprivate var name: String {
    switch self {
    case .proceed: "proceed"
    case .wait: "wait"
    case .close: "close"
    case .respond(let response, let isEarly): "respond \(response.status.code)" + (isEarly ? " early" : "")
    }
  }
}

extension RequestState.Read {
  fileprivate var name: String {
    switch self {
    case .chunk(let bytes): "chunk \(bytes.count)"
    case .end: "end"
    case .wait: "wait"
    case .failure(let error): "\(error)"
    }
  }
}
