import Platform
import Testing

@testable import take5

@Suite("Whether the embedded database comes back")
struct DatabasePresenceTests {
  private let start = ContinuousClock.now

  @Test("one that is away for longer than the limit is given up, and its return is seen")
  func away() {
    let presence = DatabasePresence(at: start)
    #expect(presence.isRecent(at: start + DatabasePresence.limit))
    #expect(!presence.isRecent(at: start + DatabasePresence.limit + .seconds(1)))
    presence.note(at: start + .seconds(90))
    #expect(presence.isRecent(at: start + .seconds(91)))
  }
}
