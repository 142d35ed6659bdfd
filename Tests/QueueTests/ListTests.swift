import FoundationEssentials
import Model
import Postgres
import PostgresTesting
import Testing

@testable import Queue

@Suite("Lists of jobs", .tags(.database))
struct ListTests {
  @Test("a list and a count filter by state, queue, kind, author, error, time and id")
  func filters() async throws {
    try await withSession { session in
      var jobs = (0..<6).map { _ in QueueDatabase.job() }
      jobs[1].kind = "image"
      jobs[2].author = "bob"
      jobs[3].delay = 60
      jobs[4].limit = JobLimit(name: "one", max: 1)
      jobs[5].queue = "mail"
      for job in jobs { try JobQueue.enqueue(job, session) }
      let worker = try JobQueue.register(host: "here", process: 7, session)
      let claimed = try JobQueue.claim(worker: worker, queue: "media", limit: 2, session)
      try bury(claimed[0], error: "The DISK is full", session)
      try JobQueue.complete(claimed[1], .rejected, result: nil, session)

      func numbers(_ change: (inout JobFilter) -> Void) throws -> [Int] {
        var filter = JobFilter()
        change(&filter)
        let found = try JobQueue.list(filter, session).map(\.publicID)
        #expect(try JobQueue.count(filter, session) == found.count)
        return found.compactMap { id in jobs.firstIndex { $0.publicID == id } }
      }
      #expect(try numbers { _ in } == [5, 4, 3, 2, 1, 0])
      #expect(try numbers { $0.states = [.dead] } == [0])
      #expect(try numbers { $0.states = [.completed] } == [1])
      #expect(try numbers { $0.states = [.cancelled] } == [])
      #expect(try numbers { $0.states = [.available] } == [5, 2])
      #expect(try numbers { $0.states = [.scheduled, .dead] } == [4, 3, 0])
      #expect(try numbers { $0.queue = "mail" } == [5])
      #expect(try numbers { $0.kind = "image" } == [1])
      #expect(try numbers { $0.author = "bob" } == [2])
      #expect(try numbers { $0.error = "disk" } == [0])
      #expect(try numbers { $0.ids = [jobs[3].publicID, jobs[0].publicID, .now()] } == [3, 0])
      #expect(try numbers { $0.finishedAfter = Date(timeIntervalSinceNow: -3600) } == [1, 0])
      // A filter by the time of the end matches no live job.
      var running = JobFilter(states: [.executing, .available])
      running.finishedAfter = Date(timeIntervalSinceNow: -3600)
      #expect(try JobQueue.list(running, session).isEmpty)
      #expect(try JobQueue.count(running, session) == 0)
      #expect(try numbers { $0.finishedBefore = Date(timeIntervalSinceNow: -3600) } == [])
      #expect(try numbers { $0.createdAfter = Date(timeIntervalSinceNow: -3600) } == [5, 4, 3, 2, 1, 0])
      #expect(try numbers { $0.createdBefore = Date(timeIntervalSinceNow: -3600) } == [])
      #expect(
        try numbers {
          $0.states = [.completed]
          $0.author = "bob"
        } == [])
      let page = try JobQueue.list(JobFilter(before: jobs[4].publicID, limit: 2), session).map(\.publicID)
      #expect(page == [jobs[3].publicID, jobs[2].publicID])
      #expect(try JobQueue.find(jobs[4].publicID, session)?.isThrottled == true)
    }
  }

  @Test("the record of an executing job has its worker and its deadline")
  func record() async throws {
    try await withSession { session in
      try JobQueue.enqueue(QueueDatabase.job(), session)
      let worker = try JobQueue.register(host: "here", process: 7, session)
      let claimed = try #require(try JobQueue.claim(worker: worker, queue: "media", limit: 1, session).first)
      #expect(claimed.waitedSeconds >= 0 && claimed.waitedSeconds < 60)
      let job = try #require(try JobQueue.find(claimed.publicID, session))
      #expect(job.worker == worker && job.workerProcess == "here:7")
      #expect(job.deadlineAt.map { $0 > job.createdAt } == true)
      _ = try JobQueue.cancel(claimed.publicID, session)
      #expect(try JobQueue.find(claimed.publicID, session)?.isCancelling == true)
    }
  }

  @Test("a job is found by its id, whichever clock made the id")
  func wrongClock() async throws {
    try await withSession { session in
      var random = SystemRandomNumberGenerator()
      for year in [1.0, 90.0] {
        var job = QueueDatabase.job()
        job.publicID = PublicID(milliseconds: UInt64(year * 365 * 86_400_000), random: &random)
        try JobQueue.enqueue(job, session)
        #expect(try JobQueue.cancel(job.publicID, session) == .cancelled)
        #expect(try JobQueue.find(job.publicID, session)?.state == .cancelled)
      }
    }
  }

  @Test("with a long history and many available jobs a page is read by indexes, from few blocks")
  func plans() async throws {
    try await withSession { session in
      let id =
        "(lpad(to_hex((extract(epoch FROM at) * 1000)::bigint), 12, '0') || '70008' || lpad(to_hex(n), 15, '0'))::uuid"
      let many = "generate_series(1, 100000) AS n, LATERAL (SELECT now() - make_interval(secs => n) AS at) AS time"
      try session.executeScript(
        """
        INSERT INTO job_done (id, public_id, queue, kind, outcome, attempt, max_attempts, lost, author, created_at,
                              started_at, finished_at, arguments)
        SELECT n, \(id), 'media', 'post', CASE n % 10 WHEN 0 THEN 'r' ELSE 'a' END, 1, 5, 0, 'ada', at, at,
          at + interval '1 second', '{}'
        FROM \(many);
        INSERT INTO job (public_id, queue, kind, state, rank, run_at, created_at, deadline_seconds, author)
        SELECT \(id.replacing("70008", with: "70009")), 'media', 'post', CASE WHEN n <= 50 THEN 's' ELSE 'a' END, n, at,
          at, 60, 'ada'
        FROM \(many);
        ANALYZE
        """, name: "fill")
      let worker = try JobQueue.register(host: "here", process: 1, session)
      _ = try JobQueue.claim(worker: worker, queue: "media", limit: 3, session)
      let hour = Date(timeIntervalSinceNow: -3600)
      var filters: [JobFilter] = [JobFilter()] + JobState.allCases.map { JobFilter(states: [$0]) }
      var next = JobFilter(states: [.available])
      next.createdBefore = hour
      filters.append(next)
      next.states = [.completed]
      filters.append(next)
      next.states = []
      next.createdAfter = hour - 60
      filters.append(next)
      next.before = try JobQueue.list(next, session).last?.publicID
      filters.append(next)
      for filter in filters {
        let plan = try JobQueue.explain(filter, session)
        let text = plan.joined(separator: "\n")
        // A sequential scan of an empty partition costs nothing.
        let scans = plan.filter { $0.contains("Seq Scan on job ") || $0.contains("Seq Scan on job_done_") }
        #expect(scans.allSatisfy { $0.contains("(cost=0.00..0.0") }, "\(text)")
        #expect(Self.buffers(plan) < 2000, "\(filter)\n\(text)")
      }
    }
  }

  /// The number of blocks that the plan read.
  private static func buffers(_ plan: [String]) -> Int {
    guard let line = plan.first(where: { $0.contains("Buffers: ") }) else { return 0 }
    return line.split(separator: " ").filter { $0.hasPrefix("hit=") || $0.hasPrefix("read=") }
      .compactMap { Int($0.drop { $0 != "=" }.dropFirst()) }.reduce(0, +)
  }
}
