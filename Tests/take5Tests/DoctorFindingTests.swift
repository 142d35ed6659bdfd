import Glibc
import HTTPServer
import MediaProcess
import Model
import Platform
import PostgresTesting
import Queue
import Store
import Testing

@testable import take5

@Suite("Findings of take5 doctor")
struct DoctorFindingTests {
  private func file(_ text: String) -> ConfigurationFile { ConfigurationFile(path: "/etc/f", Array(text.utf8)) }

  @Test("jobs that wait long after an attempt are a warning with what the oldest has said")
  func stalledJobs() {
    let id = PublicID.now()
    #expect(DoctorCheck.jobs(nil).level == .ok)
    let found = DoctorCheck.jobs(StalledJobs(jobs: 2, oldest: id, error: "its definition cannot be read"))
    #expect(found.level == .warning && found.detail.contains("2 jobs"))
    #expect(found.detail.contains("\(id)") && found.detail.contains("its definition cannot be read"))
  }

  @Test("each wrong option is an error, and a right file is named with the number of its options")
  func options() {
    let failures = [
      CommandFailure(.configuration, "f:1: unknown key", remedy: "remove it"),
      CommandFailure(.usage, "--slots must be", remedy: "see"),
    ]
    #expect(DoctorCheck.file(nil, failures: failures).map(\.level) == [.error, .error])
    let found = DoctorCheck.file(file("slots = 1\npoll = 2"), failures: [])
    #expect(found == [.ok("configuration", "options", "/etc/f sets 2 options")])
    #expect(DoctorCheck.file(nil, failures: []).map(\.level) == [.ok])
  }

  @Test(
    "a file that other users can change, or from which they can read a password, is a warning",
    arguments: [
      (0, 0o644, [], .ok), (0, 0o640, ["database"], .ok), (7, 0o600, ["database"], .ok),
      (0, 0o644, ["database"], .warning), (0, 0o664, [], .warning), (0, 0o602, [], .warning), (8, 0o600, [], .warning),
    ] as [(uid_t, mode_t, [String], CheckResult.Level)])
  func rights(owner: uid_t, mode: mode_t, secrets: [String], level: CheckResult.Level) {
    let result = DoctorCheck.rights(FileRights(owner: owner, mode: mode), of: "/etc/f", secrets: secrets, user: 7)
    #expect(result.level == level, "\(result)")
    #expect((result.remedy == nil) == (level == .ok))
  }

  @Test("a file with a secret that every user can read or write is a warning")
  func secretFile() {
    func level(_ mode: mode_t) -> CheckResult.Level {
      DoctorCheck.secret(.apiKey, at: "/key", FileRights(owner: 0, mode: mode)).level
    }
    #expect(level(0o600) == .ok && level(0o640) == .ok && level(0o644) == .warning && level(0o602) == .warning)
  }

  @Test("a variable near to one of ours is a warning, another one is not")
  func variables() {
    let results = DoctorCheck.variables([("TAKE5_SLOT", "TAKE5_SLOTS"), ("TAKE5_SERVICE_HOST", nil)])
    #expect(results.map(\.level) == [.warning])
    #expect(results.first?.remedy?.contains("TAKE5_SLOTS") == true)
  }

  @Test("two versions of the programs, and a missing codec, are errors")
  func programs() {
    func levels(_ facts: ProgramFacts) -> [CheckResult.Level] {
      DoctorCheck.results(facts, version: "1.0").map(\.level)
    }
    let libraries = ["libavcodec": "59.37.100"]
    #expect(levels(ProgramFacts(version: "1.0", libraries: libraries)) == [.ok, .ok])
    #expect(levels(ProgramFacts(version: "0.9", libraries: libraries)) == [.error, .ok])
    let lacking = ProgramFacts(version: "1.0", libraries: libraries, missingCodecs: ["libx264"])
    #expect(levels(lacking) == [.ok, .error])
    let detail = DoctorCheck.results(lacking, version: "1.0")[1].detail
    #expect(detail.contains("libx264") && detail.contains("libavcodec 59.37.100"))
  }

  @Test("few inodes are a warning and nearly none an error; a file system without a limit is in order")
  func inodes() {
    func level(_ free: UInt64, of all: UInt64) -> CheckResult.Level {
      DoctorCheck.inodes(FileSystem(freeBytes: 0, inodes: all, freeInodes: free), "data", "/data").level
    }
    #expect(level(0, of: 0) == .ok && level(500_000, of: 1_000_000) == .ok)
    #expect(level(9_999, of: 1_000_000) == .warning && level(90_000, of: 10_000_000) == .warning)
    #expect(level(99, of: 1_000_000) == .error)
  }

  @Test("temporary files that cannot be written are an error, little space for them is a warning")
  func temporary() {
    func level(_ bytes: Int64, _ failure: SystemError? = nil) -> CheckResult.Level {
      DoctorCheck.temporary("/tmp", FileSystem(freeBytes: bytes, inodes: 0, freeInodes: 0), failure).level
    }
    #expect(level(1 << 30) == .ok && level(1 << 20) == .warning)
    #expect(level(1 << 30, SystemError(call: "open", code: EROFS)) == .error)
  }

  @Test("the nearest folder that exists stands for one that does not")
  func existing() {
    #expect(DoctorCheck.existing("/tmp/nowhere/take5/data") == "/tmp")
    #expect(DoctorCheck.existing("/tmp") == "/tmp")
    #expect(DoctorCheck.existing("nowhere-take5") == ".")
  }

  @Test("a clock that differs by more than two seconds, beyond the error of the measurement, is a warning")
  func clock() {
    func level(_ seconds: Double, error: Double = 0.01) -> CheckResult.Level {
      DoctorCheck.clock(ClockOffset(seconds: seconds, error: error)).level
    }
    #expect(level(0) == .ok && level(-1.9) == .ok && level(2.5, error: 1) == .ok)
    #expect(level(2.5) == .warning && level(-3600) == .warning)
    // A round trip that took longer than the clocks seem to differ says nothing.
    #expect(level(3600, error: 3600) == .ok && ClockOffset(seconds: -3, error: 4).certain == 0)
    #expect(ClockOffset(seconds: -10, error: 1).certain == -9 && ClockOffset(seconds: 10, error: 1).certain == 9)
    #expect(DoctorCheck.clock(ClockOffset(seconds: -3600, error: 0)).detail.contains("behind"))
  }

  @Test("an address in use is in order if take5 itself listens there, and otherwise an error, as is any other fault")
  func addresses() {
    func result(_ code: Int32, _ owner: ListeningProcess? = nil) -> CheckResult {
      DoctorCheck.result(
        "--listen", "127.0.0.1:80", .cannotListen(SystemError(call: "bind", code: code)), owner: owner)
    }
    #expect(result(EADDRINUSE, ListeningProcess(id: 5, name: "take5")).level == .ok)
    let nginx = result(EADDRINUSE, ListeningProcess(id: 5, name: "nginx"))
    #expect(nginx.level == .error && nginx.detail == "process 5 (nginx) listens on 127.0.0.1:80")
    #expect(result(EADDRINUSE).level == .error)
    #expect(result(EACCES).remedy?.contains("1024") == true)
    #expect(result(EADDRNOTAVAIL).level == .error)
    #expect(
      DoctorCheck.result("--metrics", "x:1", .unknownHost("x", reason: "no name"), owner: nil).remedy?
        .contains("--metrics") == true)
  }

  @Test("a unit that is enabled and not masked should listen where the configuration says, and nowhere else")
  func unit() throws {
    let folder = try TemporaryFolder(prefix: "take5-units")
    #expect(!ServiceUnit.isEnabled(in: folder.path))
    try Folder.make("\(folder.path)/multi-user.target.wants")
    // The target of the link is in another root of the machine.
    #expect(symlink("/nonexistent/take5.service", "\(folder.path)/multi-user.target.wants/take5.service") == 0)
    #expect(ServiceUnit.isEnabled(in: folder.path))
    #expect(symlink("/dev/null", "\(folder.path)/take5.service") == 0)
    #expect(!ServiceUnit.isEnabled(in: folder.path))

    func listens(_ options: [String], _ path: String?, environment: [String: String] = [:]) throws -> Bool {
      let file = path.map { ConfigurationFile(path: $0, Array("listen = 127.0.0.1:80".utf8)) }
      return ServiceUnit.listens(with: try Arguments(options, of: .doctor, environment: environment, file: file))
    }
    let path = ConfigurationFile.standardPath
    #expect(try listens([], path) && !listens([], "/etc/other.conf") && !listens([], nil))
    #expect(try !listens(["--listen", "127.0.0.1:81"], path))
    #expect(try !listens([], path, environment: ["TAKE5_LISTEN": "127.0.0.1:81"]))
    #expect(DoctorCheck.down("127.0.0.1:80").level == .warning)
  }

  @Test("the listening socket of a port is found in the tables of the kernel")
  func sockets() throws {
    let table = """
        sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
         0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4711 1 0 100 0 0 10 0
         1: 0100007F:1F90 0100007F:9C40 01 00000000:00000000 00:00000000 00000000     0        0 4712 1 0 100 0 0 10 0
         2: 0100007F:0050 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4713 1 0 100 0 0 10 0
      """
    #expect(ListeningProcess.sockets(port: 8080, in: table).map(\.name) == ["socket:[4711]"])
    #expect(ListeningProcess.sockets(port: 80, in: table).map(\.name) == ["socket:[4713]"])
    #expect(ListeningProcess.sockets(port: 80, in: table).map(\.user) == ["0"])
    #expect(ListeningProcess.sockets(port: 8081, in: table).isEmpty)
    let socket = try ListeningSocket(host: "127.0.0.1", port: 0)
    #expect(ListeningProcess.find(port: socket.port)?.id == getpid())
    _ = consume socket
  }

  @Test(
    "proxies that do not fit the address are a warning",
    arguments: [
      ("127.0.0.1:80", "", .ok), ("127.0.0.1:80", "127.0.0.1", .ok), ("127.0.0.1:80", "::1", .ok),
      ("127.0.0.1:80", "192.0.2.1", .warning), ("0.0.0.0:80", "192.0.2.1,10.0.0.0/8", .ok),
      ("0.0.0.0:80", "0.0.0.0/0", .warning), ("0.0.0.0:80", "::/0", .warning), ("0.0.0.0:80", "", .warning),
    ] as [(String, String, CheckResult.Level)])
  func proxies(listen: String, proxies: String, level: CheckResult.Level) throws {
    let options = ["--listen", listen] + (proxies.isEmpty ? [] : ["--trusted-proxy", proxies])
    let result = DoctorCheck.proxies(try ServiceExposure(try Arguments(options, of: .doctor, environment: [:])))
    #expect(result.level == level, "\(result)")
    #expect((result.remedy == nil) == (level == .ok))
  }
}
