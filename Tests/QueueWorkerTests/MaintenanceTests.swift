import Logging
import Metrics
import Model
import Platform
import Postgres
import PostgresTesting
import Queue
import Testing

@testable import QueueWorker

@Suite("Maintenance", .tags(.database), .timeLimit(.minutes(15)))
struct MaintenanceTests {
  private static let template = TestTemplate(name: "maintenance") { session in
    try Migrator(QueueMigrations.all).migrate(session)
    try JobQueue.prepareHistory(session)
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
@Suite("Repeated tasks", .tags(.database), .timeLimit(.minutes(15)))
struct RepeatedTaskTests {
  private struct Fault: Error {}

  /// Runs maintenance while `body` runs.
  private func running(
    _ fixture: ConsumerFixture, tasks: [MaintenanceTask] = [],
    onReaped: @escaping @Sendable ([Reaped], Session) throws -> Void = { _, _ in },
    onAvailable: @escaping @Sendable () -> Void = {}, _ body: () async throws -> Void
  ) async throws {
    let maintenance = Maintenance(
      configuration: fixture.configuration(), pool: fixture.pool, onReaped: onReaped, tasks: tasks,
      metrics: WorkerMetrics(Metrics()), onAvailable: onAvailable, log: Logger { _ in })
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
        await clock.turn { slow.withLock { $0.count } == 3 && fast.withLock { $0.count } >= 3 }
      }
      func pauses(_ times: Shared<[TestClock.Instant]>) -> [Duration] {
        times.withLock { times in zip(times, times.dropFirst()).map { $0.duration(to: $1) } }
      }
      #expect(pauses(slow).allSatisfy { $0 >= .seconds(7) })
      #expect(pauses(fast).allSatisfy { $0 >= ConsumerFixture.poll })
    }
  }

  @Test("a job that becomes available is announced to the consumers")
  func promoted() async throws {
    try await ConsumerFixture.with { fixture in
      let id = try await fixture.enqueue()[0]
      try await fixture.pool.run { _ = try $0.execute("UPDATE job SET state = 's', run_at = clock_timestamp()") }
      let isAnnounced = CancellationFlag()
      try await running(fixture, onAvailable: { isAnnounced.cancel() }) {
        await fixture.clock.turn { isAnnounced.isCancelled }
      }
      #expect(try await fixture.state(id) == .available)
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
        await fixture.clock.turn { attempts.withLock { $0.count } == 2 }
      }
      #expect(attempts.withLock { $0 } == [id, id])
      #expect(try await fixture.state(id) == .scheduled)
    }
  }
}
