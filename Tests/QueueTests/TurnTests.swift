import Postgres
import PostgresTesting
import Queue
import Testing

@Suite("Turns of maintenance", .tags(.database), .timeLimit(.minutes(60)))
struct TurnTests {
  @Test("one worker has the turn until it ends or is over, and a turn that ends too late counts as over")
  func turns() async throws {
    try await withSession { session in
      func register() throws -> Int64 { try JobQueue.register(host: "here", process: 1, session) }
      func takes(_ worker: Int64) throws -> Bool {
        let turn = try JobQueue.takeTurn(worker: worker, seconds: 20, session)
        #expect(turn.workers == (try session.execute("SELECT FROM worker").count))
        return turn.end == nil
      }
      let (first, second) = (try register(), try register())
      #expect(try takes(first))
      #expect(try !takes(second))
      let end = try #require(try JobQueue.takeTurn(worker: second, seconds: 20, session).end)
      #expect(end > .seconds(10) && end <= .seconds(20))
      #expect(try takes(first))
      // A worker that ends hands it over.
      try JobQueue.deregister(worker: first, session)
      #expect(try takes(second))
      #expect(try !takes(first))
      // One that dies loses it.
      try session.execute("UPDATE maintenance_turn SET ends_at = clock_timestamp()")
      #expect(try takes(first))
      // The clock of the server was set back by an hour.
      try session.execute("UPDATE maintenance_turn SET ends_at = clock_timestamp() + interval '1 hour'")
      #expect(try takes(second))
      #expect(try session.execute("SELECT FROM maintenance_turn").count == 1)
    }
  }

  @Test("a scheduled job sets the next due time")
  func due() async throws {
    try await withSession { session in
      #expect(try JobQueue.nextDue(session) == nil)
      for delay in [900.0, 600] { try JobQueue.enqueue(QueueDatabase.job(delay: delay), session) }
      let job = try #require(try JobQueue.nextDue(session))
      #expect(job > .seconds(0) && job <= .seconds(600))
    }
  }
}
