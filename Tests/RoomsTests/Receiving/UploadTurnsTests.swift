import HTTPServer
import Model
import Platform
import Testing

@testable import Kit
@testable import Rooms

@Suite("Turns of requests to an upload")
struct UploadTurnsTests {
  @Test("a request ends the one that arrived before it, and not one that arrived after it")
  func order() async throws {
    let (turns, id, start) = (UploadTurns(), PublicID.now(), ContinuousClock.now)
    let (hasBegun, isEnded) = (OneShot<Void>(), OneShot<Void>())
    let second = Task {
      try await turns.take(id, arrival: start + .seconds(2), end: { isEnded.fulfil(()) }) {
        hasBegun.fulfil(())
        await isEnded.value
      }
    }
    await hasBegun.value
    let isCut = Locked(false)
    await #expect(throws: BodyError.cancelled) {
      try await turns.take(id, arrival: start + .seconds(1), end: { isCut.withLock { $0 = true } }) {}
    }
    #expect(isCut.withLock { $0 })
    // The second one still has its turn, until the third one comes.
    try await turns.take(id, arrival: start + .seconds(3), end: {}) {}
    try await second.value
  }
}
