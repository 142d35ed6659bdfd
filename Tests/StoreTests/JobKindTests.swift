import Model
import Postgres
import Queue
import StoreTesting
import Testing

@testable import Store

@Suite("Kinds of jobs", .tags(.database))
struct JobKindTests {
  @Test("no two kinds have the same name, and every media job is in a queue that workers consume")
  func registry() {
    let names = JobKinds.media.map { $0.kind } + JobKinds.tasks.map { $0.kind }
    #expect(Set(names).count == names.count)
    #expect(Set(names).isSuperset(of: ["post", "image", "reprocess", "forget"]))
    #expect(Set(JobKinds.media.map { $0.queue }) == [LookJob.queue, PostJob.queue, ReprocessJob.queue])
  }

  @Test("a kind that this version does not know gives an error with its name, in each queue", arguments: [true, false])
  func unknown(isMedia: Bool) async throws {
    try await StoreFixture.with { fixture in
      let queue = isMedia ? PostJob.queue : JobKinds.taskQueue
      let job = try await fixture.pool.run { session in
        try JobQueue.enqueue(
          NewJob(
            publicID: .now(), queue: queue, kind: "newer", deadlineSeconds: 60, arguments: Array("{}".utf8)), session)
        let worker = try JobQueue.register(host: "here", process: 1, session)
        return try JobQueue.claim(worker: worker, queue: queue, limit: 1, session).first
      }
      let claimed = try #require(job)
      await #expect(throws: StoreError.unknownKind("newer", claimed.publicID)) {
        try await fixture.pool.run { session in
          if isMedia {
            _ = try fixture.store.work(for: claimed, session)
          } else {
            try fixture.store.perform(claimed, session)
          }
        }
      }
    }
  }
}
