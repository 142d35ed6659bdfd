import Model
import Postgres
import PostgresTesting
import Telemetry
import Testing

@testable import Queue

@Suite("Operating", .tags(.database))
struct OperatingTests {
  @Test("many jobs are cancelled at once, including throttled ones")
  func cancelling() async throws {
    try await withDatabase(QueueDatabase.template) { url in
      let pool = Pool(url, size: 1)
      try await pool.run { session in
        let jobs = (0..<4).map { _ in QueueDatabase.job() }
        for job in jobs.prefix(2) { try JobQueue.enqueue(job, session) }
        let worker = try JobQueue.register(host: "here", process: 1, session)
        _ = try JobQueue.claim(worker: worker, queue: "media", limit: 2, session)
        try JobQueue.enqueue(jobs[2], session)
        var throttled = jobs[3]
        throttled.limit = JobLimit(name: "one", max: 1)
        try JobQueue.enqueue(throttled, session)
        let missing = PublicID.now()
        let outcomes = try JobQueue.cancel(jobs.map(\.publicID) + [missing], session)
        #expect(jobs.map { outcomes[$0.publicID] } == [.requested, .requested, .cancelled, .cancelled])
        #expect(outcomes[missing] == nil)
      }
      await pool.close()
    }
  }

  @Test("of dead jobs with one unique key only the first is retried, and none while a live job has the key")
  func keys() async throws {
    try await withDatabase(QueueDatabase.template) { url in
      let pool = Pool(url, size: 1)
      try await pool.run { session in
        let worker = try JobQueue.register(host: "here", process: 1, session)
        let jobs = [QueueDatabase.job(key: [1]), QueueDatabase.job(key: [1]), QueueDatabase.job()]
        for job in jobs {
          try JobQueue.enqueue(job, session)
          for claimed in try JobQueue.claim(worker: worker, queue: "media", limit: 1, session) {
            try bury(claimed, error: "no", session)
          }
        }
        let retried = try JobQueue.retryNow(jobs.map(\.publicID), session)
        #expect(retried == [jobs[0].publicID: "media", jobs[2].publicID: "media"])
        #expect(try JobQueue.retryNow(jobs[1].publicID, session) == false)
        #expect(try JobQueue.find(jobs[1].publicID, session)?.state == .dead)
      }
      await pool.close()
    }
  }

  @Test("an open transaction is reported with its age and application; an ordinary role sees less, without an error")
  func horizon() async throws {
    try await withDatabase(QueueDatabase.template) { url in
      let observer = try Session.connect(url, timeout: .seconds(5))
      let holder = try Session.connect(
        DatabaseURL("\(url.connectionString) application_name='nightly report'"), timeout: .seconds(5))
      let name = "ordinary_\(url.database ?? "")"
      try observer.executeScript(
        "CREATE ROLE \(name) LOGIN NOSUPERUSER; GRANT SELECT ON ALL TABLES IN SCHEMA public TO \(name)", name: "role")
      try holder.transaction { session in
        try session.executeScript("INSERT INTO job_share (name, next_rank) VALUES ('a', 1)", name: "hold")
        let seen = try JobQueue.health(observer).holders.first { $0.application == "nightly report" }
        #expect(seen?.kind == .session && seen?.state == "idle in transaction")
        #expect(seen?.seconds.map { $0 >= 0 } == true && Int(seen?.name ?? "") != nil)
        let ordinary = try Session.connect(
          DatabaseURL("\(url.connectionString) user='\(name)'"), timeout: .seconds(5))
        let health = try JobQueue.health(ordinary)
        #expect(health.holders.allSatisfy { $0.application != "nightly report" })
        #expect(Set(health.tables.map(\.table)) == ["job", "job_dead", "job_progress"])
        #expect(try !QueueGauges.measure(settingAside: [], ordinary).isEmpty)
      }
      try observer.executeScript("DROP OWNED BY \(name); DROP ROLE \(name)", name: "role")
    }
  }

  @Test("dead jobs are counted as they die, come back and are deleted, before and after the counts are folded")
  func deadCounts() async throws {
    try await withSession { session in
      let worker = try JobQueue.register(host: "here", process: 1, session)
      func dead(_ kind: String) throws -> QueueDepth? {
        try JobQueue.depths(session).first { $0.state == .dead && $0.kind == kind }
      }
      for kind in ["post", "post", "post", "task"] {
        try JobQueue.enqueue(QueueDatabase.job(kind), session)
        let job = try #require(try JobQueue.claim(worker: worker, queue: "media", limit: 1, session).first)
        try bury(job, error: "fault", session)
      }
      #expect(try dead("post")?.jobs == 3 && dead("task")?.jobs == 1)
      #expect(try dead("post")?.attempts == 15)
      _ = try JobQueue.reap(session)
      #expect(try session.execute("SELECT FROM job_dead_count").count == 2)
      #expect(try dead("post")?.jobs == 3 && dead("post")?.attempts == 15)

      let first = try session.execute("SELECT public_id FROM job_dead WHERE kind = 'post' ORDER BY id LIMIT 1").single()
        .publicID("public_id")
      try session.transaction { session in _ = try JobQueue.retryNow(first, session) }
      #expect(try dead("post")?.jobs == 2 && dead("post")?.attempts == 10)
      try session.execute("UPDATE job_dead SET died_at = died_at - interval '10 days' WHERE kind = 'task'")
      #expect(try dead("task")?.oldestSeconds ?? 0 > 9 * 86_400)
      try JobHistory.dropDead(olderThanDays: 1, session)
      #expect(try dead("task") == nil)
      _ = try JobQueue.reap(session)
      #expect(try session.execute("SELECT FROM job_dead_count").count == 1)
      #expect(try dead("post")?.jobs == 2)
    }
  }

  @Test("depths, outcomes and workers are reported")
  func statistics() async throws {
    try await withDatabase(QueueDatabase.template) { url in
      let pool = Pool(url, size: 1)
      try await pool.run { session in
        for _ in 0..<3 { try JobQueue.enqueue(QueueDatabase.job(), session) }
        let worker = try JobQueue.register(host: "here", process: 7, session)
        let claimed = try JobQueue.claim(worker: worker, queue: "media", limit: 2, session)
        try JobQueue.complete(claimed[0], .rejected, result: nil, session)
        let silent = try JobQueue.register(host: "gone", process: 8, session)
        try session.execute("UPDATE worker SET beat_at = beat_at - interval '1 hour' WHERE id = $1", .integer(silent))
        let kinds = try JobQueue.finished(withinSeconds: 3600, session)
        #expect(kinds.map(\.kind) == ["post"] && kinds.first?.rejected == 1 && kinds.first?.jobs == 1)
        #expect(kinds.first?.p50.map { $0 >= 0 } == true)
        let workers = try JobQueue.workers(session)
        #expect(workers.map(\.isAlive) == [true, false] && workers.map(\.jobs) == [1, 0])
        #expect(workers.map(\.host) == ["here", "gone"])
        let gauges = try QueueGauges.measure(settingAside: [], session)
        func value(_ name: String, _ labels: MetricLabels) -> Double? {
          gauges.first { $0.name == name && $0.labels == labels }?.value
        }
        #expect(value("take5_queue_jobs", ["queue": "media", "kind": "post", "state": "available"]) == 1)
        #expect(value("take5_queue_attempts", ["queue": "media", "kind": "post", "state": "executing"]) == 1)
        #expect(value("take5_workers", ["state": "alive"]) == 1)
        #expect(value("take5_workers", ["state": "silent"]) == 1)
      }
      await pool.close()
    }
  }
}
