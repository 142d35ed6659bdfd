import Model
import Postgres
import PostgresTesting
import Queue
import Store
import Testing

@testable import Worker

@Suite("Jobs of couriers", .tags(.database), .timeLimit(.minutes(60)))
struct CourierHandlerTests {
  private struct EndlessCourier: Courier {
    let queue = "endless"
    let slots = 1
    func deliver(_ job: ClaimedJob, isStopped: @escaping @Sendable () -> Bool, _ pool: Pool) async throws -> Bool {
      true
    }
    func hasDue(_ job: ClaimedJob, _ session: Session) throws -> Bool { true }
  }

  @Test("a receiver for whom there is always more lets the others of the queue go first after its turn")
  func turns() async throws {
    try await WorkerFixture.with { fixture in
      let courier = EndlessCourier()
      try await fixture.pool.run { session in
        for receiver in ["endless", "other"] {
          _ = try JobQueue.ensure(
            NewJob(
              publicID: .now(), queue: courier.queue, kind: "courier", maxAttempts: 2, deadlineSeconds: 60,
              uniqueKey: Array(receiver.utf8), arguments: Array("{}".utf8)), session)
        }
      }
      let held = try await fixture.claim(from: courier.queue)
      let handler = CourierHandler(
        courier: courier, pool: fixture.pool, store: fixture.store, clock: fixture.clock, turn: .zero)
      _ = await handler.handle(held, isAlone: true, log: WorkerFixture.log)
      #expect(fixture.outcomes == ["continued": 1])
      let job = try await fixture.job(held.job.publicID)
      #expect(job.state == .available && job.attempt == 0)
      #expect(try await fixture.claim(from: courier.queue).job.publicID != held.job.publicID)
    }
  }
}
