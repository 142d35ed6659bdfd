import Model
import Platform
import Postgres
import PostgresTesting
import Telemetry
import Testing
import WaitTesting

@testable import Queue

@Suite("Maintenance", .tags(.database), .timeLimit(.minutes(60)))
struct MaintenanceTests {
  private static let template = TestTemplate(name: "maintenance") { session in
    try Migrator(QueueMigrations.all).migrate(session)
    try session.transaction(JobHistory.addPartitions)
  }

  private struct Handler: JobHandler {
    let body: @Sendable () -> Void

    func handle(_ held: HeldJob, isAlone: Bool, log: Logger) async -> ServiceHealth {
      body()
      return .healthy
    }
  }

  @Test("a task that does not end delays no scheduled job")
  func sideBySide() async throws {
    try await withDatabase(Self.template) { url in
      let pool = Pool(url, size: 4)
      let (started, release, ended) = (OneShot<Void>(), OneShot<Void>(), OneShot<Void>())
      let isDone = CancellationFlag()
      let endless = MaintenanceTask("endless", every: .zero) { _ in
        started.fulfil(())
        await withTaskCancellationHandler {
          await release.value
        } onCancel: {
          release.fulfil(())
        }
      }
      let handler = Handler {
        isDone.cancel()
        ended.fulfil(())
      }
      let worker = QueueWorker(
        configuration: QueueWorkerConfiguration(pollInterval: .milliseconds(20)), database: url, pool: pool,
        consumers: [ConsumerConfiguration(queue: "tasks", slots: 1, handler: handler)], tasks: [endless],
        log: Logger { _ in }, metrics: Metrics())
      // If the worker fails, the test must not wait.
      async let running: Void = {
        defer {
          started.fulfil(())
          ended.fulfil(())
        }
        try await worker.run()
      }()
      await started.value
      // The worker has to promote the job.
      try await pool.run { session in
        _ = try JobQueue.enqueue(
          NewJob(
            publicID: .now(), queue: "tasks", kind: "later", delay: 0.05, deadlineSeconds: 60,
            arguments: Array("{}".utf8)), session)
      }
      await ended.value
      worker.stop()
      try await running
      #expect(isDone.isCancelled)
      await pool.close()
    }
  }
}

/// Maintenance with a clock that the test turns.
@Suite("Repeated tasks", .tags(.database), .timeLimit(.minutes(60)))
struct RepeatedTaskTests {
  private struct Fault: Error {}

  /// Runs maintenance while `body` runs.
  private func running(
    _ fixture: ConsumerFixture, tasks: [MaintenanceTask] = [],
    onReaped: @escaping @Sendable ([Reaped], Session) throws -> Void = { _, _ in },
    lease: Duration = .seconds(1_000_000), reapInterval: Duration = .seconds(5), clock: (any WorkerClock)? = nil,
    _ body: () async throws -> Void
  ) async throws {
    var configuration = fixture.configuration(lease: lease)
    configuration.reapInterval = reapInterval
    if let clock { configuration.clock = clock }
    let maintenance = Maintenance(
      worker: fixture.worker, configuration: configuration, pool: fixture.pool, onReaped: onReaped, tasks: tasks,
      tables: [],
      metrics: WorkerMetrics(Metrics()), polling: Polling(interval: configuration.pollInterval), schedule: WakeUp(),
      log: Logger { _ in })
    let task = Task { await maintenance.run() }
    let result: Result<Void, any Error>
    do { result = .success(try await body()) } catch { result = .failure(error) }
    task.cancel()
    await task.value
    try result.get()
  }

  @Test("a task is repeated after its interval, also after a failure, and never more often than the queue is polled")
  func repeated() async throws {
    try await ConsumerFixture.with { fixture in
      let (slow, fast) = (Shared<[TestClock.Instant]>([]), Shared<[TestClock.Instant]>([]))
      let clock = fixture.clock
      let tasks = [
        MaintenanceTask("slow", every: .seconds(7)) { _ in
          slow.withLock { $0.append(clock.now) }
          throw Fault()
        },
        MaintenanceTask("fast", every: .zero) { _ in fast.withLock { $0.append(clock.now) } },
      ]
      try await running(fixture, tasks: tasks) {
        try await clock.turn { slow.withLock { $0.count } >= 3 && fast.withLock { $0.count } >= 3 }
      }
      func pauses(_ times: Shared<[TestClock.Instant]>) -> [Duration] {
        times.withLock { times in zip(times, times.dropFirst()).map { $0.duration(to: $1) } }
      }
      #expect(pauses(slow).allSatisfy { $0 >= .seconds(7) })
      #expect(pauses(fast).allSatisfy { $0 >= ConsumerFixture.poll })
    }
  }

  @Test("a job that becomes available is announced to the consumers of its queue, also of other workers")
  func promoted() async throws {
    try await ConsumerFixture.with { fixture in
      let id = try await fixture.enqueue()[0]
      try await fixture.pool.run { _ = try $0.execute("UPDATE job SET state = 's', run_at = clock_timestamp()") }
      let (isConnected, announced) = (OneShot<Void>(), OneShot<String>())
      let listener = try #require(
        try Listener(fixture.url, channels: [QueueChannel.jobs]) { report in
          if case .notification(let notification) = report {
            announced.fulfil(JobCall(payload: notification.payload)?.queue ?? "")
          }
          if report == .connected { isConnected.fulfil(()) }
        })
      try listener.start()
      await isConnected.value
      try await running(fixture) { #expect(await announced.value == "media") }
      try await onThread("listener-stop") { listener.stop() }
      #expect(try await fixture.state(id) == .available)
    }
  }

  @Test(
    "one worker performs the tasks of all, and another takes its turn when it does not prolong it; each performs its own"
  )
  func turn() async throws {
    try await ConsumerFixture.with { fixture in
      let (pool, shared, own) = (fixture.pool, Shared(0), Shared(0))
      let tasks = [
        MaintenanceTask("shared", every: .zero) { _ in shared.withLock { $0 += 1 } },
        MaintenanceTask("own", every: .zero, by: .eachWorker) { pool in
          // The clock is not turned faster than the database replies.
          try await pool.run { _ = try $0.execute("SELECT 1") }
          own.withLock { $0 += 1 }
        },
      ]
      let other = try await pool.run { try JobQueue.register(host: "there", process: 1, $0) }
      // The database's clock is not the test's: the turn lasts longer than the test does on a busy machine.
      let turn = Duration.seconds(300)
      #expect(try await pool.run { try JobQueue.takeTurn(worker: other, seconds: turn / .seconds(1), $0).end == nil })
      try await running(fixture, tasks: tasks, lease: turn * 3 / 2) {
        try await fixture.clock.turn { own.withLock { $0 } >= 300 }
        #expect(shared.withLock { $0 } == 0)
        // The other worker has died, and time passes.
        try await pool.run { _ = try $0.execute("UPDATE maintenance_turn SET ends_at = clock_timestamp()") }
        try await fixture.clock.turn { shared.withLock { $0 } >= 3 }
        #expect(try await pool.run { try JobQueue.takeTurn(worker: other, seconds: turn / .seconds(1), $0).end != nil })
        // A worker that has lost the turn stops.
        try await pool.run { session in
          _ = try session.execute(
            "UPDATE maintenance_turn SET worker_id = \(other), ends_at = clock_timestamp() + interval '5 min'")
        }
        let end = fixture.clock.now + turn
        try await fixture.clock.turn { fixture.clock.now >= end }
        let noticed = own.withLock { $0 } + 50
        try await fixture.clock.turn { own.withLock { $0 } >= noticed }
        let count = shared.withLock { $0 }
        let later = own.withLock { $0 } + 100
        try await fixture.clock.turn { own.withLock { $0 } >= later }
        #expect(shared.withLock { $0 } == count)
      }
    }
  }

  @Test("lost jobs are taken in the transaction that writes the consequences")
  func reaped() async throws {
    try await ConsumerFixture.with { fixture in
      let id = try await fixture.enqueue()[0]
      _ = try await fixture.claim(1)
      try await fixture.pool.run { _ = try $0.execute("UPDATE worker SET beat_at = beat_at - interval '1 year'") }
      let attempts = Shared<[PublicID]>([])
      // The first time the consequences fail, and the job stays where it is for the next time.
      let onReaped: @Sendable ([Reaped], Session) throws -> Void = { reaped, session in
        guard let job = reaped.first?.publicID else { return }
        let isFirst = attempts.withLock { attempts in
          attempts.append(job)
          return attempts.count == 1
        }
        if isFirst { throw Fault() }
      }
      try await running(fixture, onReaped: onReaped) {
        try await fixture.clock.turn { attempts.withLock { $0.count } == 2 }
      }
      #expect(attempts.withLock { $0 } == [id, id])
      #expect(try await fixture.state(id) == .scheduled)
    }
  }

  @Test("a lost job is taken when the lease of its worker ends, not at the next interval")
  func reapedAtExpiry() async throws {
    try await ConsumerFixture.with { fixture in
      let id = try await fixture.enqueue()[0]
      _ = try await fixture.claim(1)
      // A second is left of the lease, by the clock of the database.
      try await fixture.pool.run {
        _ = try $0.execute(
          "UPDATE worker SET beat_at = clock_timestamp() - make_interval(secs => lease_seconds) + interval '1 s'")
      }
      let taken = Shared<[PublicID]>([])
      let onReaped: @Sendable ([Reaped], Session) throws -> Void = { reaped, _ in
        taken.withLock { $0 += reaped.map(\.publicID) }
      }
      try await running(fixture, onReaped: onReaped, reapInterval: .seconds(1_000_000), clock: ContinuousClock()) {
        try await until { taken.withLock { !$0.isEmpty } }
      }
      #expect(taken.withLock { $0 } == [id])
    }
  }
}
