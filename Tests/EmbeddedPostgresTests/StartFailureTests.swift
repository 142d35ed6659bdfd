import Glibc
import Platform
import PostgresTesting
import Testing

@testable import EmbeddedPostgres

@Suite("Start failures")
struct StartFailureTests {
  @Test("the last error of the log is used, complete, without times and refused clients")
  func lastFailure() throws {
    let log = """
      2026-01-01 00:00:00.000 UTC [7] FATAL:  an older one
      2026-01-01 00:00:01.000 UTC [8] LOG:  starting PostgreSQL 15.4
      2026-01-01 00:00:01.100 UTC [8] FATAL:  data directory "/x" has invalid permissions
      2026-01-01 00:00:01.100 UTC [8] DETAIL:  Permissions should be u=rwx (0700)
      \tor u=rwx,g=rx (0750).
      2026-01-01 00:00:01.200 UTC [9] FATAL:  the database system is starting up
      2026-01-01 00:00:01.300 UTC [8] LOG:  database system is shut down

      """
    let failure = try #require(StartFailure(log: log))
    #expect(
      failure.message
        == "data directory \"/x\" has invalid permissions. Permissions should be u=rwx (0700) or u=rwx,g=rx (0750)")
    #expect(failure.remedy?.contains("chmod") == true)
    #expect(StartFailure(log: "2026-01-01 00:00:01.000 UTC [8] LOG:  starting PostgreSQL 15.4\n") == nil)
  }

  @Test(
    "known errors have a remedy",
    arguments: [
      ("FATAL:  could not write lock file \"postmaster.pid\": No space left on device", "Free disk space"),
      ("PANIC:  could not locate a valid checkpoint record", "backup"),
      ("FATAL:  database files are incompatible with server", "TAKE5_POSTGRES_BIN"),
      ("FATAL:  pre-existing shared memory block (key 1, ID 2) is still in use", "End the PostgreSQL processes"),
      ("FATAL:  could not map anonymous shared memory: Cannot allocate memory", "memory"),
      ("FATAL:  data directory \"/x\" has wrong ownership", "chown"),
    ])
  func remedies(line: String, remedy: String) throws {
    let failure = try #require(StartFailure(log: "2026-01-01 00:00:01.000 UTC [8] \(line)\n"))
    #expect(failure.remedy?.contains(remedy) == true, "\(failure)")
  }

  @Test("a user id without a name is named, by initdb and by the server", arguments: ["initdb", "postgres"])
  func nameless(program: String) throws {
    let line = "\(program): could not look up effective user ID 4242: user does not exist\n"
    let failure = try #require(StartFailure(log: line))
    #expect(failure.message.contains("effective user ID 4242: user does not exist"))
    #expect(failure.remedy?.contains("/etc/passwd") == true && failure.remedy?.contains("--database") == true)
  }

  @Test("errors of a full or read-only file system have a remedy", arguments: [ENOSPC, EROFS, EACCES])
  func systemErrors(code: Int32) {
    #expect(EmbeddedPostgresError(SystemError(call: "mkdir", code: code, subject: "/x")).remedy != nil)
  }
}

@Suite("Damaged clusters", .tags(.database, .process), .timeLimit(.minutes(60)))
struct DamagedClusterTests {
  private let folder: TemporaryFolder
  private var cluster: String { "\(folder.path)/data/postgres/data" }

  init() throws { folder = try TemporaryFolder() }

  private func start(in path: String? = nil) throws -> EmbeddedPostgres {
    var configuration = EmbeddedPostgres.Configuration(dataFolder: path ?? "\(folder.path)/data")
    configuration.isDurable = false
    return try EmbeddedPostgres.start(configuration)
  }

  enum Damage: CaseIterable { case setting, mode, control, log }

  @Test("the error names the damage and a remedy", arguments: Damage.allCases)
  func damaged(_ damage: Damage) throws {
    try start().stop()
    let expected: (message: String, remedy: String)
    switch damage {
    case .setting:
      let settings = try Descriptor(writing: "\(cluster)/postgresql.conf", replacing: true, mode: 0o644)
      try settings.write(Array("no_such_setting = 1\n".utf8))
      expected = ("no_such_setting", "setting")
    case .mode:
      #expect(chmod(cluster, 0o755) == 0)
      expected = ("invalid permissions", "chmod 0700")
    case .control:
      #expect(truncate("\(cluster)/global/pg_control", 0) == 0)
      expected = ("pg_control", "backup")
    case .log:
      for name in try Folder.names(in: "\(cluster)/pg_wal") where name.count == 24 {
        unlink("\(cluster)/pg_wal/\(name)")
      }
      expected = ("checkpoint record", "backup")
    }
    let error = #expect(throws: EmbeddedPostgresError.self) { try start() }
    #expect(error?.message.hasPrefix("PostgreSQL cannot start: ") == true)
    #expect(error?.message.contains(expected.message) == true, "\(String(describing: error))")
    #expect(error?.remedy?.contains(expected.remedy) == true, "\(String(describing: error))")
    #expect(error?.remedy?.contains("postgres.log") == true)
  }

  @Test("a full file system is reported", .enabled("mounting a file system needs root") { canMount() })
  func fullFileSystem() throws {
    try Folder.make("\(folder.path)/disk", mode: 0o711)
    try #require(mount("tmpfs", "\(folder.path)/disk", "tmpfs", 0, "size=8m,mode=0711") == 0)
    defer { umount2("\(folder.path)/disk", Int32(MNT_DETACH)) }
    let error = #expect(throws: EmbeddedPostgresError.self) { try start(in: "\(folder.path)/disk/data") }
    #expect(error?.message.contains("No space left on device") == true, "\(String(describing: error))")
    #expect(error?.remedy?.contains("space") == true)
  }
}

/// Whether this process may mount a file system.
private func canMount() -> Bool {
  guard let folder = try? TemporaryFolder(prefix: "take5-mount") else { return false }
  guard mount("tmpfs", folder.path, "tmpfs", 0, "size=1m") == 0 else { return false }
  return umount2(folder.path, Int32(MNT_DETACH)) == 0
}
