import Glibc
import Platform
import PostgresTesting
import Testing

@testable import ChaosTesting

@Suite(
  "a full disk", .tags(.chaos), .timeLimit(.minutes(15)),
  .enabled(if: SmallDisk.isAllowed, "mounting a file system needs the privileges of root"))
struct FullDiskTests {
  @Test("no job is lost when PostgreSQL runs out of disk space for a while")
  func postgres() async throws {
    let disk = try SmallDisk(megabytes: 192)
    try await ChaosFixture.with(in: disk.path) { fixture in
      let run = fixture.run
      let producer = try run.producer("producer", jobs: 1000, batch: 20, live: 100, seed: 1)
      let worker = try run.worker("worker")
      await until { await run.live() ?? 0 != 0 }
      try disk.fill()
      let log = "\(disk.path)/server/postgres.log"
      while !String(decoding: try Descriptor(reading: log).contents(), as: UTF8.self).contains("No space left") {
        try await Task.sleep(for: .milliseconds(50))
      }
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

/// A small tmpfs. Mounting it needs the privileges of root.
final class SmallDisk: Sendable {
  private let folder: TemporaryFolder

  /// The path of the mount point.
  var path: String { folder.path }

  /// Whether this process may mount a file system.
  static let isAllowed = (try? SmallDisk(megabytes: 1)) != nil

  init(megabytes: Int) throws(SystemError) {
    folder = try TemporaryFolder(prefix: "take5-disk")
    guard mount("tmpfs", folder.path, "tmpfs", 0, "size=\(megabytes)m,mode=0711") == 0 else {
      throw SystemError(call: "mount", subject: folder.path)
    }
  }

  deinit { umount2(folder.path, Int32(MNT_DETACH)) }

  /// Fills the file system.
  func fill() throws(SystemError) {
    let ballast = try Descriptor(writing: "\(path)/ballast", replacing: true)
    let zeros = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      do throws(SystemError) {
        try ballast.write(zeros)
      } catch {
        if error.isOutOfSpace { return }
        throw error
      }
    }
  }

  /// Frees the space that `fill()` used.
  func empty() { unlink("\(path)/ballast") }
}
