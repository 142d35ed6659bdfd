import Glibc
import Postgres
import PostgresTesting
import Take5Testing
import Testing

/// The boxes that services run in: containers, units and shells with limits.
@Suite("Odd boxes", .tags(.process), .timeLimit(.minutes(60)))
struct BoxTests {
  private static let isRoot = geteuid() == 0

  @Test(
    "as process 1 it reaps orphans, passes signals on and ends with the status of the command",
    .enabled(if: isRoot, "only root makes a namespace of processes"))
  func processOne() async throws {
    let folder = try TemporaryFolder()
    try await EmptyStore.copy(to: "\(folder.path)/data")
    let box = ["--pid", "--fork", "--mount-proc", "--kill-child"]
    // The orphan of a shell becomes a child of process 1, which must wait for it: no zombie stays.
    let script = """
      (sh -c 'exit 0' &) ; for i in $(seq 600); do grep -lqs '^State:.Z' /proc/[0-9]*/status || exit 7; sleep 0.1; done; exit 8
      """
    let orphan = try await Take5Command.run(
      box + [Take5Binary.path, "database", "--data", "\(folder.path)/data", "--", "sh", "-c", script],
      program: "/usr/bin/unshare")
    #expect(orphan.errors.contains("exited with status 7"), "\(orphan)")
    let version = try await Take5Command.run(box + [Take5Binary.path, "version"], program: "/usr/bin/unshare")
    #expect(version.status == 0 && version.output.hasPrefix("take5 "), "\(version)")
    let unknown = try await Take5Command.run(box + [Take5Binary.path, "unknown"], program: "/usr/bin/unshare")
    #expect(unknown.status == 64, "\(unknown)")
    // A signal to process 1 ends the service in order.
    let stopped = try await Take5Command.run(
      box + [
        "sh", "-c",
        "(sleep 0.1; while ! grep -qs http \"$1/url\"; do sleep 0.1; done; kill -TERM 1) & exec \"$0\" serve --listen 127.0.0.1:0 "
          + "--slots 0 --data \"$1/data\" >\"$1/url\"", Take5Binary.path, folder.path,
      ], program: "/usr/bin/unshare")
    #expect(stopped.status == 0, "\(stopped)")
  }

  @Test("a service with too few open files does not start, and says which limit to raise")
  func files() async throws {
    let folder = try TemporaryFolder()
    for command in ["serve", "worker"] {
      let run = try await Take5Command.run(
        [
          "-c", "ulimit -n 100; exec \"$0\" \(command) --data \"$1\"", Take5Binary.path,
          folder.path,
        ], program: "/bin/sh")
      #expect(run.status == 78 && run.errors.contains("ulimit -n") && run.errors.contains("100"), "\(run)")
    }
  }

  @Test("a program on the schema of a newer one starts with one warning, and migrate changes nothing and says so")
  func newerSchema() async throws {
    let service = try await Service()
    await service.process.send(signal: SIGTERM)
    #expect(await service.process.wait() == 0)
    let sql = "INSERT INTO schema_migration (version, name) VALUES (9999, 'later')"
    let inserted = try await Take5Command.run(["database", "--data", service.data, "--", "psql", "--command", sql])
    #expect(inserted.status == 0, "\(inserted)")
    let migrated = try await Take5Command.run(["migrate", "--data", service.data])
    #expect(migrated.status == 0 && migrated.output.contains("9999, which is newer than this program"), "\(migrated)")
    let again = try await Service(in: service.folder)
    await again.process.send(signal: SIGTERM)
    #expect(await again.process.wait() == 0)
    #expect(
      again.process.log.ranges(of: "a newer version of take5 has migrated the schema").count == 1,
      "\(again.process.log)")
  }
}
