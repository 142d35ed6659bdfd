import Glibc
import HTTPClient
import HTTPServer
import Model
import Platform
import PostgresTesting
import Take5Testing
import Testing

@Suite("take5 doctor", .tags(.process))
struct DoctorCommandTests {
  /// The report as JSON.
  private struct Report: Decodable {
    struct Result: Decodable {
      let check: String
      let subject: String
      let level: String
      let detail: String
      let remedy: String?
    }

    let healthy: Bool
    let results: [Result]

    func result(_ check: String, _ subject: String) -> Result? {
      results.first { $0.check == check && $0.subject == subject }
    }
  }

  private static let walls = [
    "user", "capabilities", "no_new_privs", "mounts", "network", "pids", "ipc", "uts", "landlock", "seccomp",
    "not_dumpable", "limits", "cgroup",
  ]

  private func doctor(
    _ arguments: [String], environment: [String: String] = [:]
  ) async throws -> (command: Take5Command, report: Report) {
    // Another program may listen on the port of the default.
    let options = arguments.contains("--listen") ? [] : ["--listen", "127.0.0.1:0"]
    let command = try await Take5Command.run(["doctor", "--json"] + options + arguments, environment: environment)
    return (command, try JSON.decode(Report.self, from: Array(command.output.utf8)))
  }

  @Test("before a store exists, it is a warning, the walls are measured, and nothing is created")
  func beforeInit() async throws {
    let folder = try TemporaryFolder(prefix: "take5-doctor")
    let data = "\(folder.path)/data"
    let (command, report) = try await doctor(["--data", data])
    #expect(command.status == 0 && report.healthy, "\(command)")
    #expect(report.results.filter { $0.check == "walls" }.map(\.subject) == Self.walls)
    #expect(report.result("database", "server")?.level == "warning")
    #expect(report.result("database", "programs")?.level == "ok")
    #expect(report.result("store", "folder")?.level == "warning")
    #expect(report.result("access", "keys")?.level == "ok")
    for result in report.results {
      #expect(["ok", "info"].contains(result.level) == (result.remedy == nil) && !result.detail.isEmpty, "\(result)")
    }
    #expect(try Folder.names(in: folder.path).isEmpty)

    let text = try await Take5Command.run(["doctor", "--data", data, "--listen", "127.0.0.1:0"])
    #expect(text.status == 0 && text.errors.isEmpty, "\(text)")
    #expect(text.output.contains("no store found in \(data)") && text.output.contains("take5 init"))
  }

  @Test("the programs, codecs, clock, disk and address of this machine are in order")
  func machine() async throws {
    let folder = try TemporaryFolder(prefix: "take5-doctor")
    let data = "\(folder.path)/data"
    #expect(try await Take5Command.run(["init", "--data", data]).status == 0)
    let (command, report) = try await doctor(["--data", data, "--metrics", "127.0.0.1:0"])
    for (check, subject) in [
      ("configuration", "options"), ("programs", "versions"), ("programs", "codecs"), ("clock", "database"),
      ("disk", "temporary space"), ("address", "listen"), ("address", "metrics"), ("access", "proxies"),
    ] {
      #expect(report.result(check, subject)?.level == "ok", "\(check) \(subject): \(command.output)")
    }
    #expect(report.result("programs", "codecs")?.detail.contains("libavcodec") == true)
    #expect(report.result("disk", "data inodes") != nil)
  }

  @Test("an address at which another program listens is an error with the name of the program")
  func takenAddress() async throws {
    let folder = try TemporaryFolder(prefix: "take5-doctor")
    let socket = try ListeningSocket(host: "127.0.0.1", port: 0)
    let (command, report) = try await doctor(
      ["--data", "\(folder.path)/data", "--listen", "127.0.0.1:\(socket.port)"])
    let listen = report.result("address", "listen")
    #expect(command.status == 1 && listen?.level == "error", "\(command)")
    #expect(listen?.detail.contains("process \(getpid()) (") == true && listen?.remedy != nil, "\(command)")
  }

  @Test("a service whose address is taken creates no store, and names the program that listens there")
  func takenAtStart() async throws {
    let folder = try TemporaryFolder(prefix: "take5-doctor")
    let socket = try ListeningSocket(host: "127.0.0.1", port: 0)
    let data = "\(folder.path)/new"
    let run = try await Take5Command.run(["serve", "--data", data, "--listen", "127.0.0.1:\(socket.port)"])
    #expect(run.status == 69 && run.errors.contains("process \(getpid()) ("), "\(run)")
    #expect(access(data, F_OK) != 0)

    let service = try await Service(workers: 0)
    let address = "127.0.0.1:\(service.url.split(separator: ":").last ?? "")"
    let second = try await Take5Command.run(["serve", "--data", data, "--listen", address])
    let process = try #require(await service.process.process)
    #expect(second.status == 69, "\(second)")
    // A service hides its descriptors from other processes of an ordinary user, who may run several services.
    let owners = ["its process \(process)"] + (geteuid() == 0 ? [] : ["one of its processes"])
    #expect(
      owners.contains { second.errors.contains("take5 runs already: \($0) listens on \(address)") }, "\(second)")
    #expect(access(data, F_OK) != 0)
    try await service.stop()
  }

  @Test("docs/operations.md lists each result of doctor")
  func document() async throws {
    let rows = try Document("docs/operations.md").text.split(separator: "\n").drop { !$0.hasPrefix("| check | result") }
      .prefix { $0.hasPrefix("|") }
    let names = Set(rows.flatMap { $0.split(separator: "|").prefix(2) }.joined(separator: ",").split(separator: "`"))
    let folder = try TemporaryFolder(prefix: "take5-doctor")
    let data = "\(folder.path)/data"
    let before = try await doctor(["--data", data])
    #expect(try await Take5Command.run(["init", "--data", data]).status == 0)
    let after = try await doctor(
      ["--data", data, "--metrics", "0.0.0.0:0", "--api-key-file", "/etc/passwd"],
      environment: ["TAKE5_SLOT": "1"])
    for result in before.report.results + after.report.results {
      #expect(names.contains(Substring(result.check)), "\(result)")
      if result.check != "walls" { #expect(names.contains(Substring(result.subject)), "\(result)") }
    }
  }

  @Test("a running service is healthy; a stopped one too, and no server is left running")
  func running() async throws {
    let service = try await Service(workers: 0)
    let (command, report) = try await doctor(["--data", service.data])
    #expect(command.status == 0, "\(command)")
    for (check, subject) in [
      ("database", "server"), ("database", "schema"), ("database", "rights"), ("store", "folder"), ("store", "space"),
      ("access", "keys"), ("jobs", "waiting"),
    ] {
      #expect(report.result(check, subject)?.level == "ok", "\(check) \(subject): \(command.output)")
    }
    #expect(report.result("store", "writing")?.level != "error")
    #expect(try service.blobFiles() == 0)
    #expect(try await service.get("/readyz").status == 200)
    #expect(try await service.stop() == 0)

    let after = try await doctor(["--data", service.data])
    #expect(after.command.status == 0, "\(after.command)")
    #expect(after.report.result("database", "schema")?.level == "ok")
    // The owner of a server removes the file of its URL when it stops the server.
    #expect(access("\(service.data)/postgres.url", F_OK) != 0)
  }

  @Test("a database that cannot be reached is an error, and its password is not printed")
  func wrongDatabase() async throws {
    let folder = try TemporaryFolder(prefix: "take5-doctor")
    let url = "postgresql://ada:sesame@127.0.0.1:1/none?connect_timeout=1"
    let options = ["--data", "\(folder.path)/data", "--database", url]
    let (command, report) = try await doctor(options)
    #expect(command.status == 1 && !report.healthy, "\(command)")
    #expect(report.result("database", "server")?.level == "error")
    #expect(report.result("database", "server")?.remedy?.contains("127.0.0.1") == true)
    // The keys are in that database.
    #expect(report.result("access", "keys")?.level == "warning")
    let text = try await Take5Command.run(["doctor"] + options)
    let invalid = try await Take5Command.run(["doctor", "--database", "postgresql://ada:sesame@[::1:5432/x"])
    #expect(text.status == 1 && invalid.status == 1)
    for run in [command, text, invalid] {
      #expect(!run.output.contains("sesame") && !run.errors.contains("sesame"), "\(run)")
    }
  }

  @Test("an address that other machines reach is an error without a key, as at the start of the service")
  func publicAddress() async throws {
    let service = try await Service(workers: 0)
    let options = ["--data", service.data, "--listen", "0.0.0.0:0"]
    let without = try await doctor(options)
    #expect(without.command.status == 1)
    let keys = without.report.result("access", "keys")
    #expect(keys?.level == "error" && keys?.detail.contains("the service has no API key") == true)
    #expect(keys?.remedy?.contains("take5 keys create") == true)

    let given = try await doctor(options, environment: ["TAKE5_API_KEY": "t5-sesame"])
    #expect(given.command.status == 0 && given.report.result("access", "keys")?.level == "ok", "\(given.command)")
    #expect(!given.command.output.contains("sesame"))

    let created = try await Take5Command.run(["keys", "create", "app", "--data", service.data])
    #expect(created.status == 0)
    let stored = try await doctor(options)
    #expect(stored.command.status == 0 && stored.report.result("access", "keys")?.level == "ok", "\(stored.command)")
    try await service.stop()
  }

  @Test("a folder of another store, and too little space, are errors")
  func otherStore() async throws {
    let (one, other) = (try await Service(workers: 0), try await Service(workers: 0, makesStore: true))
    try await other.stop()
    try Folder.remove("\(one.data)/blobs")
    guard symlink("\(other.data)/blobs", "\(one.data)/blobs") == 0 else { throw SystemError(call: "symlink") }
    let (command, report) = try await doctor(["--data", one.data, "--min-free", "1073741824"])
    #expect(command.status == 1)
    #expect(report.result("store", "folder")?.level == "error", "\(command)")
    #expect(report.result("store", "space")?.level == "error", "\(command)")
    try await one.stop()
  }
}
