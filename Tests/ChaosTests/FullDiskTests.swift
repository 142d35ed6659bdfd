import Platform
import Postgres
import PostgresTesting
import Take5Testing
import Testing
import WaitTesting

@testable import ChaosTesting

@Suite(
  "a full disk", .tags(.chaos), .timeLimit(.minutes(60)),
  .enabled(if: MountedFolder.isAllowed, "mounting a file system needs the privileges of root"))
struct FullDiskTests {
  private static let largeTable =
    "CREATE TABLE large AS SELECT repeat('x', 1000) FROM generate_series(1, 10000); DROP TABLE large"

  @Test("no job is lost when PostgreSQL runs out of disk space for a while")
  func postgres() async throws {
    let folder = try TemporaryFolder(prefix: "take5-disk")
    let path = "\(folder.path)/disk"
    try Folder.make(path)
    let disk = try MountedFolder(path, megabytes: 192, mode: "0711")
    try await ChaosFixture.with(in: path) { fixture in
      let run = fixture.run
      let producer = try run.producer("producer", jobs: 1000, batch: 20, live: 100, seed: 1)
      let worker = try run.worker("worker")
      try await until { await run.live() ?? 0 != 0 }
      try disk.fill()
      // Until PostgreSQL has no space either.
      try await until { (try? await run.pool.run { try $0.executeScript(Self.largeTable, name: "test") }) == nil }
      disk.empty()
      #expect(await producer.child.end(within: .seconds(120)) == .exited(0))
      #expect(await run.isFinished(within: .seconds(120)))
      #expect(await worker.end(within: .seconds(60)) == .exited(0))
      let evidence = try await run.evidence()
      #expect(Check.violations(in: evidence) == [])
      #expect(evidence.orders.count == 1000)
    }
  }
}
