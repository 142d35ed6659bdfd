import Blobs
import Crypto
import Glibc
import MediaProcess
import Model
import Platform
import Postgres
import PostgresTesting
import Queue
import Testing

@testable import Store
@testable import Worker

@Suite("Outages of the storage", .tags(.database), .timeLimit(.minutes(60)))
struct StorageOutageTests {
  /// Publishes outputs that are stored as files, and claims the job that would make them again.
  private func item(_ fixture: WorkerFixture) async throws -> HeldJob {
    try await fixture.submit()
    #expect(try await fixture.attempt(FakeMedia(bytes: 300_000)) == .healthy)
    _ = try await fixture.reprocess()
    return try await fixture.claim(from: ReprocessJob.queue)
  }

  private func isOutage(_ health: ServiceHealth) -> Bool {
    if case .outage = health { true } else { false }
  }

  @Test("a storage that cannot say whether outputs exist postpones the job, and nothing is made again")
  func hasOutputs() async throws {
    try await WorkerFixture.with { fixture in
      let held = try await item(fixture)
      let found = try await fixture.pool.run { try fixture.store.work(for: held.job, $0) }
      let work = try #require(found)
      let outputs = try #require(work.reprocessing?.blobs)
      // The folder of an output is a link to itself, and that of the source can be read.
      let source = try await fixture.source(of: held.job)
      let output = try #require(outputs.first { $0.hex.prefix(2) != source.hex.prefix(2) })
      let shard = try #require(Folder.parent(of: fixture.blobs.location(of: output)))
      try #require(rename(shard, "\(fixture.folder.path)/shard") == 0 && symlink(shard, shard) == 0)
      let media = FakeMedia()
      let health = await fixture.handler(media).handle(held, isAlone: true, log: WorkerFixture.log)
      #expect(isOutage(health))
      #expect(media.requests.withLock { $0.isEmpty })
      let job = try await fixture.job(held.job.publicID)
      #expect(job.state == .scheduled && job.attempt == 0)
    }
  }

  @Test("outputs whose files are missing are made again")
  func missing() async throws {
    try await WorkerFixture.with { fixture in
      let held = try await item(fixture)
      let work = try await fixture.pool.run { try fixture.store.work(for: held.job, $0) }
      try fixture.blobs.remove(try #require(work?.reprocessing?.blobs.first))
      let media = FakeMedia(bytes: 300_000)
      #expect(await fixture.handler(media).handle(held, isAlone: true, log: WorkerFixture.log) == .healthy)
      #expect(media.requests.withLock { $0 } == ["photo"])
      #expect(fixture.outcomes == ["accepted": 2])
    }
  }

  @Test("a storage that goes away before the attempt, or before the publication, postpones the job", arguments: [0, 1])
  func publication(request: Int) async throws {
    try await WorkerFixture.with { fixture in
      let post = try await fixture.submit()
      let held = try await fixture.claim()
      if request == 0 { try fixture.unmount() }
      let media = FakeMedia(bytes: 300_000) { () async throws(MediaFailure) in
        do { try fixture.unmount() } catch { throw MediaFailure(.internal, "\(error)") }
      }
      let health = await fixture.handler(media).handle(held, isAlone: true, log: WorkerFixture.log)
      #expect(isOutage(health))
      #expect(media.requests.withLock { $0.count } == request)
      let job = try await fixture.job(held.job.publicID)
      #expect(job.state == .scheduled && job.attempt == 0)
      #expect(try await fixture.post(post).status == .processing)
    }
  }
}
