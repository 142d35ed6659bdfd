import Blobs
import MediaProcess
import Model
import Postgres
import Rooms
import Store
import Testing

@testable import take5

@Suite("Checks of take5 doctor")
struct DoctorTests {
  private static let ok = CheckResult.ok("walls", "seccomp", "up: 60 calls")
  private static let warning = CheckResult.warning("store", "folder", "not there", remedy: "make it")
  private static let error = CheckResult.error("database", "server", "refused\n  by the server", remedy: "start it")

  @Test("only an error changes the status")
  func status() {
    #expect(DoctorReport([]).status == .success)
    #expect(DoctorReport([Self.ok, Self.warning]).status == .success)
    #expect(DoctorReport([Self.ok, Self.error, Self.warning]).status == .inconsistent)
  }

  @Test("each result is a line with its remedy below, and the last line counts")
  func text() {
    #expect(
      DoctorReport([Self.ok, Self.warning, Self.error]).text == """
        ok       walls     seccomp  up: 60 calls
        warning  store     folder   not there
                 make it
        error    database  server   refused; by the server
                 start it
        1 error, 1 warning
        """)
    #expect(DoctorReport([Self.ok]).text == "ok       walls  seccomp  up: 60 calls\nno problems found")
  }

  @Test("JSON has the same results")
  func json() throws {
    let text = try JSON.text(DoctorReport([Self.ok, Self.error]))
    #expect(text.contains(#""healthy":false"#))
    #expect(text.contains(#""check":"walls""#) && text.contains(#""subject":"seccomp""#))
    #expect(text.contains(#""level":"ok""#) && text.contains(#""level":"error""#))
    #expect(text.contains(#""remedy":"start it""#))
  }

  @Test("an error that a check throws is a result, and the next check runs")
  func thrown() async throws {
    let arguments = try Arguments(["--data", "/nowhere/take5"], of: .doctor, environment: [:])
    let subject = await DoctorSubject(arguments, keys: ConfigurationKeys(of: []), options: [])
    let checks = [
      DoctorCheck(name: "first") { _ in throw CommandFailure(.io, "the disk is gone", remedy: "replace it") },
      DoctorCheck(name: "second") { _ in [Self.ok] },
    ]
    let report = try await DoctorReport.make(checks, of: subject)
    await subject.close()
    #expect(report.results == [.error("first", "check", "the disk is gone", remedy: "replace it"), Self.ok])
  }

  @Test("doctor takes the options of serve and worker")
  func options() {
    let names = Subcommand.doctor.options.map(\.name)
    #expect(Set(names).count == names.count)
    #expect(Set(Subcommand.serve.options + Subcommand.worker.options).map(\.name).allSatisfy(names.contains))
  }
}

@Suite("Results of the checks of take5 doctor")
struct DoctorResultTests {
  @Test("a wall that is down is an error if it is required, and otherwise a warning")
  func walls() {
    let walls = SandboxTests.walls(down: [.user, .cgroup])
    for (mode, level) in [(SandboxMode.available, CheckResult.Level.warning), (.off, .warning), (.required, .error)] {
      let results = DoctorCheck.results(walls, mode, lacksDelegation: true)
      #expect(results.map(\.subject) == Wall.allCases.map(\.rawValue))
      for result in results {
        switch result.subject {
        case "user": #expect(result.level == level && result.detail == "down: reason")
        case "cgroup": #expect(result.level == .warning && result.remedy != nil)
        default: #expect(result.level == .ok && result.detail == "up: fact" && result.remedy == nil)
        }
      }
    }
  }

  @Test("a cgroup that no unit could delegate is no warning")
  func undelegated() {
    let results = DoctorCheck.results(SandboxTests.walls(down: [.cgroup]), .available, lacksDelegation: false)
    let cgroup = results.first { $0.subject == "cgroup" }
    #expect(cgroup?.level == .info && cgroup?.remedy == nil && cgroup?.detail.contains("reason") == true)
    #expect(DoctorReport(results).text.hasSuffix("\nno problems found"))
  }

  private static let healthy = DatabaseFacts(
    version: "15.14", versionNumber: 150_014, role: "ada", isReadOnly: false,
    applied: Set([Migration].all.flatMap(\.versions)), mayCreate: true, isOwner: true, closedTables: [],
    hasChecksums: true, checksumFailures: 0)

  private func levels(_ change: (inout DatabaseFacts) -> Void) -> [CheckResult.Level] {
    var facts = Self.healthy
    change(&facts)
    return DoctorCheck.results(facts, at: "here").map(\.level)
  }

  @Test("what a database lacks is found: the version, writes, the schema, the rights of the role")
  func database() throws {
    #expect(levels { _ in } == [.ok, .ok, .ok])
    #expect(levels { $0.versionNumber = 120_020 } == [.error, .ok, .ok])
    #expect(levels { $0.isReadOnly = true } == [.error, .ok, .ok])
    #expect(levels { $0.applied = [] } == [.ok, .warning, .ok])
    #expect(levels { $0.applied.remove(148) } == [.ok, .warning, .ok])
    #expect(levels { $0.applied = [9, 110] } == [.ok, .error, .ok])
    #expect(levels { $0.applied.insert(9999) } == [.ok, .warning, .ok])
    #expect(levels { $0.closedTables = ["post"] } == [.ok, .ok, .error])
    #expect(levels { $0.hasChecksums = false } == [.ok, .ok, .ok, .info])
    #expect(levels { $0.checksumFailures = 1 } == [.ok, .ok, .ok, .error])
    var unprotected = Self.healthy
    unprotected.hasChecksums = false
    let result = DoctorCheck.results(unprotected, at: "here", isEmbedded: true).last
    #expect(result?.level == .warning && result?.remedy?.contains("take5 database checksums") == true)
    #expect(levels { $0.mayCreate = false } == [.ok, .ok, .warning])
    // Migrations could not be applied.
    #expect(
      levels {
        $0.mayCreate = false
        $0.applied = []
      } == [.ok, .warning, .error])
    #expect(levels { $0.isOwner = false } == [.ok, .ok, .warning])
    var old = Self.healthy
    old.applied = Set([Migration].all.dropLast(2).map(\.version))
    let pending = [Migration].all.suffix(2).map { "\($0.version)" }.joined(separator: ", ")
    #expect(DoctorCheck.results(old, at: "here")[1].detail.hasSuffix("pending migrations: \(pending)"))
  }

  @Test("a folder of another store, and a full file system, are errors")
  func store() {
    let (one, other) = (PublicID.now(), PublicID.now())
    func level(_ match: BlobFolderMatch?) -> CheckResult.Level { DoctorCheck.identity("/blobs", match).level }
    #expect(level(.same(one)) == .ok && level(.adopted(nil)) == .ok && level(nil) == .warning)
    #expect(level(.refused(.another(other, expected: one))) == .error)
    #expect(DoctorCheck.space(256 << 20, minFree: 256 << 20, "/blobs").level == .ok)
    #expect(DoctorCheck.space((256 << 20) - 1, minFree: 256 << 20, "/blobs").level == .error)
  }

  @Test(
    "an address that other machines reach needs a key, and so does one behind a trusted proxy",
    arguments: [
      (["--listen", "127.0.0.1:80"], KnownKeys(), .ok),
      (["--listen", "127.0.0.1:80"], KnownKeys(revoked: 1), .warning),
      (["--listen", "127.0.0.1:80"], nil, .warning),
      (["--listen", "127.0.0.1:80", "--trusted-proxy", "127.0.0.1"], KnownKeys(), .error),
      (["--listen", "0.0.0.0:80"], KnownKeys(), .error),
      (["--listen", "0.0.0.0:80"], KnownKeys(revoked: 1), .error),
      (["--listen", "0.0.0.0:80"], KnownKeys(valid: 1), .ok),
      (["--listen", "0.0.0.0:80"], KnownKeys(hasOperatorKey: true), .ok),
    ] as [([String], KnownKeys?, CheckResult.Level)])
  func access(options: [String], keys: KnownKeys?, level: CheckResult.Level) throws {
    let exposure = try ServiceExposure(try Arguments(options, of: .doctor, environment: [:]))
    let result = DoctorCheck.results(exposure, keys)
    #expect(result.level == level, "\(result)")
    #expect((result.remedy == nil) == (level == .ok))
    // Behind a proxy the address alone does not explain it.
    if level == .error { #expect(result.detail.contains("--trusted-proxy") == options.contains("--trusted-proxy")) }
  }

  @Test("metrics that other machines reach are a warning")
  func metrics() throws {
    #expect(DoctorCheck.results(try ListenAddress(parsing: "127.0.0.1:9100")) == nil)
    #expect(DoctorCheck.results(try ListenAddress(parsing: "0.0.0.0:9100"))?.level == .warning)
  }
}
