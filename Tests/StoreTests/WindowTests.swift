import FoundationEssentials
import Model
import Postgres
import Queue
import Store
import Testing

@Suite("The daily window", .tags(.database))
struct WindowTests {
  @Test(
    "it opens once for each job, in the transaction that completes the job, for the given time", arguments: [nil, 60])
  func opening(seconds: Int?) async throws {
    try await StoreFixture.with { fixture in
      try await fixture.pool.run { [store = fixture.store] session in
        #expect(try store.window(session) == nil)
        let job = try Self.job(seconds.map { #"{"seconds": \#($0)}"# } ?? "{}", session)
        // A transaction that rolls back opens no window.
        #expect(throws: CancellationError.self) {
          try session.transaction { session in
            try store.perform(job, session)
            throw CancellationError()
          }
        }
        #expect(try store.window(session) == nil)
        try session.transaction { session in
          try store.perform(job, session)
          try JobQueue.complete(job, .accepted, result: nil, session)
        }
        let window = try #require(try store.window(session))
        #expect(window.isOpen)
        #expect(window.closesAt.timeIntervalSince(window.openedAt).rounded() == Double(seconds ?? 300))
        let again = #expect(throws: PostgresError.self) { try store.perform(job, session) }
        #expect(again?.sqlState == "23505")
      }
    }
  }

  @Test("the latest window is current, and closes at its time")
  func latest() async throws {
    try await StoreFixture.with { fixture in
      try await fixture.pool.run { [store = fixture.store] session in
        for _ in 0..<2 { try store.perform(Self.job("{}", session), session) }
        let latest = try #require(try store.window(session))
        try session.execute(
          "UPDATE daily_window SET opened_at = opened_at - interval '1 day', closes_at = closes_at - interval '1 day' WHERE id = 1"
        )
        #expect(try store.window(session) == latest)
        try session.execute("UPDATE daily_window SET closes_at = opened_at + interval '1 microsecond'")
        #expect(try store.window(session)?.isOpen == false)
      }
    }
  }

  @Test(
    "invalid arguments are refused",
    arguments: ["[]", "", #"{"seconds": 0}"#, #"{"seconds": 86401}"#, #"{"minutes": 5}"#, #"{"seconds": "5"}"#])
  func arguments(text: String) {
    #expect(throws: DecodingError.self) { try JSON.decode(WindowJob.self, from: Array(text.utf8)) }
  }

  private static func job(_ arguments: String, _ session: Session) throws -> ClaimedJob {
    try JobQueue.enqueue(
      NewJob(
        publicID: .now(), queue: JobKinds.taskQueue, kind: WindowJob.kind, deadlineSeconds: 60,
        arguments: Array(arguments.utf8)), session)
    let worker = try JobQueue.register(host: "here", process: 1, session)
    return try #require(try JobQueue.claim(worker: worker, queue: JobKinds.taskQueue, limit: 1, session).first)
  }
}
