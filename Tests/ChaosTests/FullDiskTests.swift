import ChaosTesting
import Platform
import PostgresTesting
import Testing

@Suite(
  "A full disk", .tags(.chaos), .timeLimit(.minutes(5)),
  .enabled(if: SmallDisk.isAllowed, "only who may mount can fill a disk"))
struct FullDiskTests {
  @Test("PostgreSQL runs out of room in the middle of the work: once there is room again, nothing is missing")
  func postgres() async throws {
    let disk = try SmallDisk(megabytes: 192)
    try await ChaosFixture.with(in: disk.path) { fixture in
      let run = fixture.run
      let producer = try run.producer("producer", jobs: 1000, batch: 20, live: 100, seed: 1)
      let worker = try run.worker("worker")
      while await run.live() ?? 0 == 0 {}
      try disk.fill()
      let log = "\(disk.path)/server/postgres.log"
      while !String(decoding: try Descriptor(reading: log).contents(), as: UTF8.self).contains("No space left") {
        try await Task.sleep(for: .milliseconds(50))
      }
      disk.empty()
      #expect(await producer.child.end(within: .seconds(120)) == .exited(0))
      #expect(await run.isOver(within: .seconds(120)))
      #expect(await worker.end(within: .seconds(60)) == .exited(0))
      let evidence = try await run.evidence()
      #expect(Check.violations(in: evidence) == [])
      #expect(evidence.orders.count == 1000)
    }
  }
}
