import Model
import Platform
import Postgres
import PostgresTesting
import Telemetry
import Testing
import WaitTesting

@testable import Queue

@Suite("Job consumers", .tags(.database), .timeLimit(.minutes(60)))
struct JobConsumerTests {
  @Test("during an outage the queue is paused, one job at a time tries after each pause, and none loses an attempt")
  func outage() async throws {
    try await ConsumerFixture.with { fixture in
      let (pool, clock) = (fixture.pool, fixture.clock)
      try await fixture.enqueue(8)
      let (starts, failures, isEnded) = (Shared<[Duration]>([]), Shared<[Duration]>([]), Shared(false))
      let (start, metrics) = (clock.now, Metrics())
      let handler = Handler { held in
        let number = starts.withLock { times in
          times.append(start.duration(to: clock.now))
          return times.count
        }
        // Both slots fail, and then one job that tries.
        if number <= 3 {
          if number == 3 { #expect(metrics.text().contains(#"take5_queue_paused{queue="media"} 1"#)) }
          let policy = RetryPolicy(firstPause: 0, maxPause: 0)
          _ = try await pool.transaction { try JobQueue.postpone(held.job, error: "no storage", by: policy, $0) }
          failures.withLock { $0.append(start.duration(to: clock.now)) }
          return .outage(Outage("no storage"))
        }
        try await pool.transaction { try JobQueue.complete(held.job, .accepted, result: nil, $0) }
        if try await pool.run({ try $0.execute("SELECT FROM job").isEmpty }) { isEnded.withLock { $0 = true } }
        return .healthy
      }
      let consumer = try fixture.consumer(slots: 2, metrics: metrics, handler)
      try await fixture.running(consumer) {
        async let promoting: Void = {
          try await until {
            _ = try await pool.run { try JobQueue.promote($0) }
            return isEnded.withLock { $0 }
          }
        }()
        try await clock.turn { isEnded.withLock { $0 } }
        try await promoting
      }
      let (started, failed) = (starts.withLock { $0 }, failures.withLock { $0 })
      try #require(started.count == 11 && failed.count == 3)
      // The first pause starts with the first failure, the first job's.
      #expect(started[2] - min(failed[0], failed[1]) >= .seconds(1))
      #expect(started[3] - failed[2] >= .seconds(2))
      try await pool.run { session in
        let done = try JobQueue.list(JobFilter(states: [.completed], limit: 100), session)
        #expect(done.count == 8 && done.allSatisfy { $0.attempt == 1 })
      }
      #expect(metrics.text().contains(#"take5_queue_paused{queue="media"} 0"#))
    }
  }

  @Test(
    "a job that another transaction has locked is claimed within the poll interval after its end, which nothing reports"
  )
  func locked() async throws {
    try await ConsumerFixture.with { fixture in
      let isEnded = CancellationFlag()
      let consumer = try fixture.consumer(fixture.completing { _ in isEnded.cancel() })
      _ = consumer.context.polling.setListening(true)
      _ = try await fixture.enqueue()
      let (isLocked, gate, url) = (OneShot<Void>(), Channel<Int>(capacity: 1), fixture.url)
      let locking = Task {
        try await onThread("lock") {
          defer { isLocked.fulfil(()) }
          try Session.connect(url, timeout: .seconds(5)).transaction { session in
            try session.execute("SELECT FROM job FOR UPDATE")
            isLocked.fulfil(())
            _ = gate.take()
          }
        }
      }
      await isLocked.value
      try await fixture.running(consumer) {
        try await fixture.poll(3)
        #expect(!isEnded.isCancelled)
        gate.close()
        try await locking.value
        try await fixture.poll(2)
        try await until { isEnded.isCancelled }
      }
    }
  }

  @Test("the time to ready begins with the submission, the time of a stage with the stage")
  func times() async throws {
    try await ConsumerFixture.with { fixture in
      let (pool, metrics) = (fixture.pool, Metrics())
      try await fixture.enqueue()
      try await pool.run { session in
        _ = try session.execute("UPDATE job SET created_at = created_at - interval '90 seconds'")
      }
      let isEnded = Shared(false)
      let handler = Handler { held in
        held.begin(stage: "fetch")
        held.advance(to: JobProgress(fraction: 0.5, stage: "compose"))
        held.advance(to: JobProgress(fraction: 0.6, stage: "compose"))
        try await pool.transaction { try JobQueue.complete(held.job, .accepted, result: nil, $0) }
        held.countReady()
        held.endStage()
        isEnded.withLock { $0 = true }
        return .healthy
      }
      try await fixture.running(try fixture.consumer(metrics: metrics, handler)) {
        try await until { isEnded.withLock({ $0 }) }
      }
      let text = metrics.text()
      for line in [
        #"take5_time_to_ready_seconds_bucket{kind="post",le="60"} 0"#,
        #"take5_time_to_ready_seconds_count{kind="post"} 1"#,
        #"take5_job_wait_seconds_bucket{kind="post",le="60"} 1"#,
        #"take5_stage_duration_seconds_count{kind="post",stage="fetch"} 1"#,
        #"take5_stage_duration_seconds_count{kind="post",stage="compose"} 1"#,
      ] { #expect(text.contains(line + "\n"), "\(line)") }
    }
  }

  @Test("an attempt is a span of the trace of its request, and each stage is a span below it")
  func traces() async throws {
    try await ConsumerFixture.with { fixture in
      let (pool, bodies) = (fixture.pool, Shared<[UInt8]>([]))
      let submitted = TraceContext(ratio: 1)
      try await pool.run { session in
        try JobQueue.enqueue(
          NewJob(
            publicID: .now(), queue: "media", kind: "post", deadlineSeconds: 60,
            request: JobRequest(id: "r", trace: submitted.description), arguments: Array("{}".utf8)), session)
      }
      var configuration = Tracer.Configuration()
      configuration.interval = .milliseconds(1)
      let tracer = try Tracer(configuration) { body in
        bodies.withLock { $0 += body }
      } onEnd: { _, _ in
      }
      let inside = Shared<[TraceContext?]>([])
      let handler = Handler { held in
        held.begin(stage: "fetch")
        inside.withLock { $0.append(TraceScope.current?.context) }
        held.advance(to: JobProgress(fraction: 0.5, stage: "compose"))
        inside.withLock { $0.append(TraceScope.current?.context) }
        try await pool.transaction { try JobQueue.complete(held.job, .accepted, result: nil, $0) }
        held.end("accepted")
        return .healthy
      }
      try await fixture.running(try fixture.consumer(tracer: tracer, handler)) {
        try await until { try await pool.run({ try $0.execute("SELECT FROM job").isEmpty }) }
      }
      await tracer.stop()
      // What the stages do belongs to spans of their own, all of the trace that the job has kept.
      let stages = inside.withLock { $0 }.compactMap { $0?.description.split(separator: "-") }
      try #require(stages.count == 2)
      let trace = submitted.description.split(separator: "-")[1]
      #expect(stages.allSatisfy { $0[1] == trace } && stages[0][2] != stages[1][2])
      let text = bodies.withLock { String(decoding: $0, as: UTF8.self) }
      for part in ["fetch", "compose", "process media", "take5.job.outcome", "accepted"] {
        #expect(text.contains(part))
      }
    }
  }

  @Test("a job that still runs when the drain is over is stopped, and not before; one that ends is not stopped")
  func drain() async throws {
    try await ConsumerFixture.with { fixture in
      let (pool, clock) = (fixture.pool, fixture.clock)
      let ids = try await fixture.enqueue(2)
      let (started, mayEnd) = (Shared(0), Shared(false))
      let stopped = Shared<(reason: HeldJob.StopReason?, at: TestClock.Instant)?>(nil)
      let ended = Shared<[HeldJob.StopReason?]>([])
      let handler = Handler { held in
        started.withLock { $0 += 1 }
        if held.job.publicID == ids[0] {
          try await until { mayEnd.withLock({ $0 }) }
          try await pool.transaction { try JobQueue.complete(held.job, .accepted, result: nil, $0) }
          ended.withLock { $0.append(held.stopReason) }
        } else {
          let reason = try await held.stopRequest()
          stopped.withLock { $0 = (reason, clock.now) }
          try await pool.transaction { try JobQueue.release(held.job, $0) }
        }
        return .unknown
      }
      let consumer = try fixture.consumer(slots: 2, handler)
      async let running: Void = consumer.run()
      try await until { started.withLock({ $0 }) >= 2 }
      let asked = clock.now
      consumer.context.stopping.cancel()
      consumer.wake.raise()
      mayEnd.withLock { $0 = true }
      try await until { !ended.withLock({ $0.isEmpty }) }
      try await clock.turn { stopped.withLock { $0 != nil } }
      try await running
      let stop = try #require(stopped.withLock { $0 })
      #expect(stop.reason == .drained)
      #expect(asked.duration(to: stop.at) >= consumer.context.configuration.drain)
      #expect(ended.withLock { $0 } == [nil])
      #expect(try await fixture.state(ids[0]) == .completed)
      #expect(try await fixture.state(ids[1]) == .available)
    }
  }

  @Test("without a recent heartbeat no job is claimed")
  func overdue() async throws {
    try await ConsumerFixture.with { fixture in
      let id = try await fixture.enqueue()[0]
      let consumer = try fixture.consumer(lease: .seconds(30), fixture.completing { _ in })
      fixture.clock.advance(by: .seconds(18) + .milliseconds(1))
      #expect(consumer.context.heartbeat.isOverdue)
      try await fixture.running(consumer) { try await fixture.poll(3) }
      #expect(try await fixture.state(id) == .available)
    }
  }

  @Test("a worker that has lost its lease claims nothing, and its consumer ends")
  func evicted() async throws {
    try await ConsumerFixture.with { fixture in
      let consumer = try fixture.consumer(fixture.completing { _ in })
      async let running: Void = consumer.run()
      try await fixture.clock.sleepers()
      let id = try await fixture.enqueue()[0]
      consumer.context.isEvicted.cancel()
      consumer.wake.raise()
      try await running
      #expect(try await fixture.state(id) == .available)
    }
  }

  @Test("while the handler takes no more, nothing is claimed")
  func reserved() async throws {
    try await ConsumerFixture.with { fixture in
      let id = try await fixture.enqueue()[0]
      let isEnded = Shared(false)
      let handler = fixture.completing { _ in isEnded.withLock { $0 = true } }
      handler.takesJobs.withLock { $0 = false }
      let consumer = try fixture.consumer(handler)
      try await fixture.running(consumer) {
        try await fixture.poll(3)
        let state = try await fixture.state(id)
        #expect(state == .available)
        handler.takesJobs.withLock { $0 = true }
        try await fixture.clock.turn { isEnded.withLock { $0 } }
      }
      #expect(try await fixture.state(id) == .completed)
    }
  }

  @Test("no more jobs are claimed than there are slots, and a job that ends makes room")
  func slots() async throws {
    try await ConsumerFixture.with { fixture in
      let pool = fixture.pool
      try await fixture.enqueue(3)
      let (running, most, ended) = (Shared(0), Shared(0), Shared(0))
      let handler = Handler { held in
        let count = running.withLock { count in
          count += 1
          return count
        }
        most.withLock { $0 = max($0, count) }
        if ended.withLock({ $0 }) == 0 {
          let executing = try await pool.run {
            try $0.execute("SELECT count(*) FROM job WHERE state = 'x'").single().get(0, as: Int.self)
          }
          #expect(executing <= 2)
        }
        try await pool.transaction { try JobQueue.complete(held.job, .accepted, result: nil, $0) }
        running.withLock { $0 -= 1 }
        ended.withLock { $0 += 1 }
        return .healthy
      }
      try await fixture.running(try fixture.consumer(slots: 2, handler)) {
        try await fixture.clock.turn { ended.withLock { $0 } == 3 }
      }
      #expect(most.withLock { $0 } <= 2)
    }
  }

  @Test("a grant that the server has rolled back because of a concurrent transaction is repeated")
  func grantConflict() async throws {
    try await ConsumerFixture.with { fixture in
      let id = try await fixture.enqueue(limit: JobLimit(name: "ada", max: 1))[0]
      try await fixture.pool.run { session in
        try session.executeScript(
          """
          CREATE SEQUENCE attempts;
          CREATE FUNCTION fail_once() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
            IF nextval('attempts') = 1 THEN RAISE EXCEPTION 'conflict' USING ERRCODE = 'serialization_failure'; END IF;
            RETURN NULL;
          END $$;
          CREATE TRIGGER fail_once AFTER UPDATE ON job FOR EACH ROW WHEN (OLD.state = 'p') EXECUTE FUNCTION fail_once();
          """, name: "fail_once")
      }
      let (isEnded, lines) = (Shared(false), Shared<[String]>([]))
      let consumer = try fixture.consumer(
        log: Logger { line in lines.withLock { $0.append(line) } },
        fixture.completing { _ in isEnded.withLock { $0 = true } })
      try await fixture.running(consumer) { try await fixture.clock.turn { isEnded.withLock { $0 } } }
      #expect(try await fixture.state(id) == .completed)
      #expect(lines.withLock { lines in !lines.contains { $0.contains("no job could be claimed") } })
    }
  }

  @Test("a claim that the database refuses is sent again once it accepts writes, and no number is looked up")
  func databaseAway() async throws {
    try await ConsumerFixture.with { fixture in
      let id = try await fixture.enqueue()[0]
      let isEnded = Shared(false)
      let consumer = try fixture.consumer(fixture.completing { _ in isEnded.withLock { $0 = true } })
      try setReadOnly(true, fixture.url)
      try await fixture.running(consumer) {
        try await fixture.poll(2)
        #expect(consumer.context.held.all.isEmpty)
        #expect(consumer.unacknowledged.due().isEmpty)
        try setReadOnly(false, fixture.url)
        try await fixture.clock.turn { isEnded.withLock { $0 } }
      }
      #expect(try await fixture.state(id) == .completed)
    }
  }
}
