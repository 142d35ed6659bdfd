import Model
import Platform
import Postgres
import Queue
import Rooms
import Store
import StoreTesting
import Testing
import WaitTesting

@Suite("Fairness between authors", .tags(.database))
struct FairnessTests {
  @Test("fifty posts of one author do not delay a single post of another")
  func ranks() async throws {
    try await StoreFixture.with { fixture in
      for number in 0..<50 { try await fixture.submit("front \(number)", "back \(number)") }
      let single = try await fixture.submit("a", "b", draft: PostDraft(author: "bea"))
      // The ranks of one author's jobs are ten seconds apart: the single job follows as many as ten seconds have passed since the first.
      let (order, passed) = try await fixture.pool.run { session in
        let passed = try session.execute(
          "SELECT (extract(epoch FROM max(created_at) - min(created_at)) / 10)::float8 FROM job"
        ).single().get(0, as: Double.self)
        let worker = try JobQueue.register(host: "here", process: 1, session)
        return (try JobQueue.claim(worker: worker, queue: PostJob.queue, limit: 51, session), passed)
      }
      let index = try #require(order.firstIndex { $0.author == "bea" })
      #expect(order.count == 51 && Double(index) <= passed + 1)
      let work = try await fixture.pool.run { [store = fixture.store] in try store.work(for: order[index], $0) }
      #expect(work?.subject == .post(single))
    }
  }

  @Test("with a limit of one job per author two workers never execute two jobs of one author, and complete all jobs")
  func concurrency() async throws {
    try await StoreFixture.with { usual in
      let fixture = StoreFixture(
        blobs: usual.blobs, store: Store(blobs: usual.blobs, rooms: .all, authorConcurrency: 1), pool: usual.pool,
        url: usual.url)
      for number in 0..<12 {
        let author = ["ada", "bea", "cleo"][number % 3]
        try await fixture.submit("front \(number)", "back \(number)", draft: PostDraft(author: author))
      }
      let pool = fixture.pool
      let done = Done()
      try await withThrowingTaskGroup { group in
        for worker in 1...2 {
          group.addTask {
            try await pool.run { session in
              let worker = try JobQueue.register(host: "here", process: Int32(worker), session)
              let deadline = Deadline("12 jobs")
              while done.jobs.withLock({ $0 < 12 }) {
                try deadline.check()
                _ = try session.transaction(JobQueue.grant)
                let jobs = try JobQueue.claim(worker: worker, queue: PostJob.queue, limit: 2, session)
                let largest = try session.execute(
                  """
                  SELECT coalesce(max(jobs), 0) FROM (
                    SELECT count(*) AS jobs FROM job WHERE state = 'x' GROUP BY author) AS busy
                  """
                ).single().get(0, as: Int.self)
                #expect(largest <= 1)
                for job in jobs {
                  try session.transaction { try JobQueue.complete(job, .accepted, result: nil, $0) }
                  done.jobs.withLock { $0 += 1 }
                }
              }
            }
          }
        }
        try await group.waitForAll()
      }
      #expect(try await fixture.count("job WHERE kind <> 'look'") == 0)
    }
  }

  @Test("a job that is throttled by the limit of its author can be cancelled")
  func cancelling() async throws {
    try await StoreFixture.with { usual in
      let fixture = StoreFixture(
        blobs: usual.blobs, store: Store(blobs: usual.blobs, rooms: .all, authorConcurrency: 1), pool: usual.pool,
        url: usual.url)
      let post = try await fixture.submit()
      let job = try #require(try await fixture.post(post).job)
      #expect(job.state == .scheduled)
      let outcome = try await fixture.pool.transaction { try JobControl.cancel(job: job.id, $0) }
      #expect(outcome == .cancelled)
      #expect(try await fixture.post(post).status == .failed)
    }
  }

  /// The number of jobs that both workers have completed.
  private final class Done: Sendable {
    let jobs = Locked(0)
  }
}
