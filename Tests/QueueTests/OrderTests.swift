import FoundationEssentials
import Model
import Platform
import Postgres
import PostgresTesting
import Queue
import Testing

@Suite("The order of jobs", .tags(.database))
struct OrderTests {
  @Test("jobs of other authors come between the jobs of an author with many")
  func shares() async throws {
    try await withSession { session in
      for author in ["ada", "ada", "ada", "grace"] {
        var job = QueueDatabase.job()
        (job.author, job.share) = (author, JobShare(name: author, seconds: 10))
        try JobQueue.enqueue(job, session)
      }
      #expect(try claim(4, session).map(\.author) == ["ada", "grace", "ada", "ada"])
    }
  }

  @Test("a fair share is ahead by at most ten minutes where no jobs wait, and shares that have passed are removed")
  func boundedShares() async throws {
    try await withSession { session in
      for _ in 0..<3 {
        var job = QueueDatabase.job()
        // Without an author no jobs are counted.
        (job.author, job.share) = (nil, JobShare(name: "ada", seconds: 10_000))
        try JobQueue.enqueue(job, session)
      }
      let ranks = try claim(3, session).map(\.rank)
      #expect(ranks[2] - ranks[0] < 610_000_000)
      try session.execute("UPDATE job_share SET next_rank = 1")
      try JobQueue.dropShares(session)
      #expect(try session.execute("SELECT FROM job_share").isEmpty)
    }
  }

  @Test("the jobs of an author stay a turn apart, however many wait, and other authors' go between them")
  func manyShares() async throws {
    try await withSession { session in
      _ = try Self.waiting(300, of: "ada", session)
      // The jobs have waited for a quarter of an hour.
      try session.execute("UPDATE job SET rank = rank - 900000000")
      let other = try Self.waiting(1, session)[0]
      let row = try session.execute(
        """
        SELECT count(*) FILTER (WHERE rank < (SELECT rank FROM job WHERE public_id = '\(other)')) AS before,
          (extract(epoch FROM (SELECT max(created_at) FROM job) - min(created_at)) / 10)::float8 AS passed
        FROM job WHERE author = 'ada'
        """
      ).single()
      let (before, passed) = (try row.get("before", as: Int.self), try row.get("passed", as: Double.self))
      #expect(before >= 90 && Double(before) <= 91 + passed)
      #expect(try session.execute("SELECT FROM job GROUP BY rank HAVING count(*) > 1").isEmpty)
    }
  }

  @Test("what has been done delays an author by ten minutes at most, and each of very many jobs has its turn")
  func endedShares() async throws {
    try await withSession { session in
      _ = try Self.waiting(100, of: "ada", session)
      try session.execute("DELETE FROM job")
      _ = try Self.waiting(1, of: "ada", session)
      func ahead() throws -> Double {
        try session.execute(
          "SELECT max(rank - priority * 30000000 - extract(epoch FROM created_at) * 1e6)::float8 AS ahead FROM job"
        ).single().get("ahead")
      }
      #expect(try ahead() <= 600_000_000)
      try JobQueue.enqueue((0..<1000).map { _ in QueueDatabase.job() }, session)
      try session.execute("UPDATE job_share SET next_rank = next_rank + 100000000000")
      _ = try Self.waiting(1, of: "ada", session)
      #expect(try ahead() >= 100_000_000_000)
    }
  }

  @Test("a priority changes the rank by a fixed time: an older job may come first")
  func priority() async throws {
    try await withSession { session in
      let waiting = QueueDatabase.job()
      try JobQueue.enqueue(waiting, session)
      try session.execute("UPDATE job SET rank = rank - 151000000")
      var urgent = QueueDatabase.job()
      urgent.priority = 0
      try JobQueue.enqueue(urgent, session)
      #expect(try claim(2, session).map(\.publicID) == [waiting.publicID, urgent.publicID])
    }
  }

  private static func waiting(_ count: Int, of author: String? = nil, _ session: Session) throws -> [PublicID] {
    try (0..<count).map { number in
      var job = QueueDatabase.job()
      job.author = author ?? "author \(number)"
      job.share = job.author.map { JobShare(name: $0, seconds: 10) }
      try JobQueue.enqueue(job, session)
      return job.publicID
    }
  }

  @Test("jobs of the last ten minutes that clients wait for go ahead in their order, once")
  func headStarts() async throws {
    try await withSession { session in
      let old = try Self.waiting(1, of: "ada", session)
      try session.execute("UPDATE job SET rank = rank - 601000000")
      let jobs = try Self.waiting(4, session)
      for _ in 0..<3 { try JobQueue.giveHeadStarts(to: [jobs[3], jobs[1], .now()], session) }
      #expect(try claim(5, session).map(\.publicID) == old + [jobs[1], jobs[3], jobs[0], jobs[2]])
    }
  }

  @Test(
    "an author whose jobs are all waited for has two head starts in ten minutes, and a share among the awaited jobs"
  )
  func sharesOfHeadStarts() async throws {
    try await withSession { session in
      let many = try Self.waiting(60, of: "ada", session)
      let others = try Self.waiting(6, session)
      func order() throws -> [PublicID] {
        try session.execute("SELECT public_id FROM job ORDER BY rank, id").map { try $0.publicID("public_id") }
      }
      for _ in 0..<3 { try JobQueue.giveHeadStarts(to: many.reversed() + others.prefix(1), session) }
      #expect(try Array(order().prefix(9)) == [many[0], others[0], many[1]] + others.dropFirst() + [many[2]])
      // Five minutes later one more may go ahead.
      try session.execute("UPDATE job_share SET next_rank = next_rank - 300000000 WHERE name = 'ahead:ada'")
      try JobQueue.giveHeadStarts(to: many, session)
      #expect(try Array(order().prefix(4)) == [many[0], others[0], many[1], many[2]])
    }
  }

  @Test("a job that executes gets no head start, and one that waits keeps it through its attempts and its death")
  func keptHeadStart() async throws {
    try await withSession { session in
      let jobs = try Self.waiting(2, session)
      let first = try claim(1, session)[0]
      try JobQueue.giveHeadStarts(to: jobs, session)
      try JobQueue.release(first, session)
      let second = try claim(1, session)[0]
      #expect(second.publicID == jobs[1])
      try bury(second, error: "broken", session)
      let more = try Self.waiting(1, session)
      #expect(try JobQueue.retryNow(jobs[1], session))
      #expect(try claim(3, session).map(\.publicID) == [jobs[1], jobs[0]] + more)
    }
  }

  @Test("a head start does not wait for a job that another transaction has locked")
  func lockedHeadStart() async throws {
    try await withDatabase(QueueDatabase.template) { url in
      let pool = Pool(url, size: 2)
      let jobs = try await pool.run { try Self.waiting(2, $0) }
      try await pool.transaction { session in
        try session.execute("SELECT FROM job WHERE public_id = '\(jobs[1])' FOR UPDATE")
        let (isOver, order) = (Channel<[PublicID]>(capacity: 1), [jobs[0], jobs[1]])
        Task {
          try await pool.run { try JobQueue.giveHeadStarts(to: order, $0) }
          _ = isOver.put(order)
        }
        #expect(isOver.take() == order)
      }
      let moved = try await pool.run { session in
        try session.execute("SELECT public_id::text FROM job WHERE priority < 0").map { try $0.get(0, as: String.self) }
      }
      #expect(moved == ["\(jobs[0])"])
      await pool.close()
    }
  }

  @Test("a limit bounds the available and executing jobs, and the others follow as these end")
  func limits() async throws {
    try await withSession { session in
      for _ in 0..<5 {
        var job = QueueDatabase.job()
        job.limit = JobLimit(name: "ada", max: 2)
        try JobQueue.enqueue(job, session)
      }
      var done = 0
      while try grantAll(session) > 0 {
        let claimed = try claim(5, session)
        #expect(claimed.count <= 2)
        // A released job is throttled like the others.
        if done == 0 { try JobQueue.release(claimed[1], session) }
        for job in claimed.prefix(done == 0 ? 1 : 2) {
          try JobQueue.complete(job, .accepted, result: nil, session)
          done += 1
        }
      }
      #expect(done == 5)
    }
  }

  @Test("a limit with room gets it, however many others are full")
  func manyLimits() async throws {
    try await withSession { session in
      for _ in 0..<2 {
        for number in 0..<150 {
          var job = QueueDatabase.job()
          job.limit = JobLimit(name: "author \(number)", max: 1)
          try JobQueue.enqueue(job, session)
        }
      }
      #expect(try grantAll(session) == 150)
      let claimed = try claim(150, session)
      // Whose limit stands where in the table is not known.
      for job in claimed {
        try JobQueue.complete(job, .accepted, result: nil, session)
        #expect(try grantAll(session) == 1)
      }
    }
  }

  @Test("a job that waits for more than an hour after an attempt is named with what the attempt has said")
  func stalled() async throws {
    try await withSession { session in
      let jobs = [QueueDatabase.job(), QueueDatabase.job(), QueueDatabase.job()]
      for job in jobs { try JobQueue.enqueue(job, session) }
      for held in try claim(2, session) { #expect(try JobQueue.postpone(held, error: "cannot be read", session)) }
      #expect(try JobQueue.stalled(session) == nil)
      try session.execute("UPDATE job SET created_at = created_at - interval '61 minutes'")
      // The third one has not been tried.
      #expect(
        try JobQueue.stalled(session)
          == StalledJobs(jobs: 2, oldest: jobs[0].publicID, error: "cannot be read"))
    }
  }

  /// What sends a job back to the queue.
  enum Interruption: CaseIterable {
    case failed, postponed, snoozed, lost, retriedNow
  }

  @Test(
    "a job that comes back is claimed before what was submitted since, and keeps nothing waiting before it is due",
    arguments: Interruption.allCases)
  func interrupted(_ interruption: Interruption) async throws {
    try await withSession { session in
      let first = QueueDatabase.job()
      try JobQueue.enqueue(first, session)
      let held = try #require(try claim(1, session).first)
      switch interruption {
      case .failed: #expect(try JobQueue.fail(held, error: "it broke", session))
      case .postponed: #expect(try JobQueue.postpone(held, error: "the storage is full", session))
      case .snoozed, .retriedNow: try JobQueue.snooze(held, seconds: 60, session)
      case .lost:
        try session.execute("DELETE FROM worker")
        #expect(try JobQueue.reap(session).map(\.state) == [.scheduled])
      }
      let others = [QueueDatabase.job(), QueueDatabase.job()]
      for job in others { try JobQueue.enqueue(job, session) }
      try session.execute("UPDATE job SET run_at = clock_timestamp() + interval '1 minute' WHERE state = 's'")
      #expect(try JobQueue.promote(session).isEmpty)
      #expect(try claim(1, session).map(\.publicID) == [others[0].publicID])
      if interruption == .retriedNow {
        #expect(try JobQueue.retryNow(first.publicID, session))
      } else {
        try session.execute("UPDATE job SET run_at = clock_timestamp() WHERE state = 's'")
        #expect(try JobQueue.promote(session).count == 1)
      }
      #expect(try claim(2, session).map(\.publicID) == [first.publicID, others[1].publicID])
    }
  }

  @Test("a snoozed job waits, and the attempt does not count")
  func snoozing() async throws {
    try await withSession { session in
      let job = QueueDatabase.job()
      try JobQueue.enqueue(job, session)
      let first = try #require(try claim(1, session).first)
      try JobQueue.snooze(first, seconds: 60, session)
      #expect(try JobQueue.find(job.publicID, session)?.state == .scheduled)
      #expect(throws: LeaseLost.self) { try JobQueue.snooze(first, seconds: 60, session) }
      #expect(try JobQueue.retryNow(job.publicID, session))
      #expect(try claim(1, session).first?.attempt == 1)
    }
  }

  @Test("a job that is enqueued by COPY has all its values")
  func bulk() async throws {
    try await withSession { session in
      var job = QueueDatabase.job(delay: 60)
      (job.definition, job.request, job.priority, job.author) = (
        Array(0..<32), JobRequest(id: "r-1", trace: "t-1"), 0, nil
      )
      try JobQueue.enqueue([job, QueueDatabase.job()], session)
      let found = try #require(try JobQueue.find(job.publicID, session))
      #expect(found.state == .scheduled)
      #expect(found.request == "r-1" && found.author == nil && found.maxAttempts == 5)
      #expect(found.runAt.map { $0.timeIntervalSince(found.createdAt) > 59 } == true)
      #expect(try JobQueue.retryNow(job.publicID, session))
      let claimed = try claim(9, session)
      // Its priority ranks it first.
      #expect(claimed.first?.publicID == job.publicID && claimed.first?.definition == Array(0..<32))
      #expect(claimed.first?.trace == "t-1")
      #expect(claimed.count == 2)
    }
  }

  @Test("old partitions of the history are dropped, and old rows of the default partition deleted")
  func history() async throws {
    try await withDatabase(QueueDatabase.template) { url in
      let (pool, session) = (Pool(url, size: 1), try Session.connect(url, timeout: .seconds(5)))
      try JobQueue.enqueue(QueueDatabase.job(), session)
      try JobQueue.complete(try #require(try claim(1, session).first), .accepted, result: nil, session)
      try session.executeScript(
        "CREATE TABLE job_done_20200101 PARTITION OF job_done FOR VALUES FROM ('2020-01-01Z') TO ('2020-01-02Z')",
        name: "day")
      for day in ["2020-01-01 12:00Z", "2020-02-01 12:00Z"] {
        try session.executeScript(
          """
          INSERT INTO job_done (id, public_id, queue, kind, outcome, attempt, max_attempts, lost, created_at, arguments,
            finished_at)
          SELECT id, gen_random_uuid(), queue, kind, outcome, attempt, max_attempts, lost, created_at, arguments,
            '\(day)' FROM job_done LIMIT 1
          """, name: "old")
      }
      try await JobHistory.drop(olderThanDays: 30, pool)
      #expect(try session.execute("SELECT FROM job_done").count == 1)
      #expect(try session.execute("SELECT to_regclass('job_done_20200101')").single().get(0, as: String?.self) == nil)
      await pool.close()
    }
  }

  private func claim(_ limit: Int, _ session: Session) throws -> [ClaimedJob] {
    let worker = try JobQueue.register(host: "here", process: 1, session)
    return try JobQueue.claim(worker: worker, queue: "media", limit: limit, session)
  }
}
