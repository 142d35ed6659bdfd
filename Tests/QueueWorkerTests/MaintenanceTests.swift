import Logging
import Metrics
import Model
import Platform
import Postgres
import PostgresTesting
import Queue
import QueueWorker
import Testing

@Suite("Maintenance", .tags(.database), .timeLimit(.minutes(2)))
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
