import Platform
import Postgres
import Testing

@testable import take5

@Suite("Whether the embedded database comes back")
struct DatabasePresenceTests {
  private let start = ContinuousClock.now

  @Test("one that is away for longer than the limit is given up, and its return is seen")
  func away() {
    let presence = DatabasePresence(at: start)
    let away = PostgresError(.unavailable, "no such socket")
    presence.note(away, at: start + .seconds(50))
    #expect(presence.isRecent(at: start + DatabasePresence.limit))
    #expect(!presence.isRecent(at: start + DatabasePresence.limit + .seconds(1)))
    presence.note(nil, at: start + .seconds(90))
    #expect(presence.isRecent(at: start + .seconds(91)))
  }

  @Test("an error that the server itself has said shows that it is there")
  func refusal() {
    let presence = DatabasePresence(at: start)
    presence.note(PostgresError(.server, "canceling statement", sqlState: "57014"), at: start + .seconds(90))
    #expect(presence.isRecent(at: start + .seconds(91)))
    presence.note(PostgresError(.connectionLost, "server closed the connection"), at: start + .seconds(140))
    #expect(!presence.isRecent(at: start + .seconds(151)))
  }
}
