import Glibc
import HTTPClient
import Model
import Platform
import PostgresTesting
import Take5Testing
import Testing

@Suite("Configuration file of the programs", .tags(.process))
struct ConfigCommandTests {
  private struct Report: Decodable {
    struct Entry: Decodable {
      let option: String
      let value: String?
      let source: String
    }

    let file: String?
    let options: [Entry]

    func entry(_ option: String) -> Entry? { options.first { $0.option == option } }
  }

  private let folder: TemporaryFolder
  private let file: String

  init() throws {
    folder = try TemporaryFolder(prefix: "take5-config")
    file = "\(folder.path)/take5.conf"
  }

  private func write(_ text: String, mode: UInt32 = 0o600) throws {
    try Folder.remove(file)
    try Descriptor(writing: file, replacing: false, mode: mode).write(Array(text.utf8))
  }

  private func report(_ run: Take5Command) throws -> Report {
    try JSON.decode(Report.self, from: Array(run.output.utf8))
  }

  @Test("config prints each option with its value and source, and no password")
  func prints() async throws {
    try write(
      """
      slots = 2
      poll = 3 # seconds
      database = 'postgresql://ada:sesame@host/take5'
      server = http://host:1
      """)
    let run = try await Take5Command.run(
      ["config", "--json", "--config", file, "--slots", "4"], environment: ["TAKE5_LEASE": "60"])
    #expect(run.status == 0 && run.errors.isEmpty, "\(run)")
    let report = try report(run)
    #expect(report.file == file)
    #expect(report.entry("--slots")?.source == "flag" && report.entry("--slots")?.value == "4")
    #expect(report.entry("--lease")?.source == "TAKE5_LEASE")
    #expect(report.entry("--poll")?.source == "\(file):2" && report.entry("--poll")?.value == "3")
    #expect(report.entry("--drain")?.source == "default" && report.entry("--drain")?.value == "25")
    #expect(report.entry("--database")?.source == "\(file):3")
    let table = try await Take5Command.run(["config"], environment: ["TAKE5_CONFIG": file])
    #expect(table.status == 0 && table.output.hasPrefix("OPTION") && table.output.contains("\(file):1"))
    #expect(!run.output.contains("sesame") && !table.output.contains("sesame"))
  }

  @Test("config prints all errors with their places and the nearest names, with status 78")
  func errors() async throws {
    try write("lisen = 127.0.0.1:80\nslots = many\npoll\npooling = transaction\npoll = 1\npoll = 2\n")
    let run = try await Take5Command.run(["config", "--config", file, "--lease", "x"])
    #expect(run.status == 78)
    for text in [
      "\(file):1: unknown key 'lisen': did you mean 'listen'?", "\(file):2: slots must be an integer",
      "\(file):3: the line has no '='", "\(file):6: 'poll' is set in line 5 too", "--lease must be a number",
    ] {
      #expect(run.errors.contains(text), "\(text): \(run.errors)")
    }
    try write("pooling = transaction\n")
    let together = try await Take5Command.run(["config", "--config", file])
    #expect(together.status == 78 && together.errors.contains("--pooling requires --database"), "\(together)")
  }

  @Test(
    "a wrong file ends each command that reads it with status 78",
    arguments: [["serve"], ["worker"], ["jobs", "list"], ["submit", "post", "a", "b"], ["still", "a"]])
  func refused(command: [String]) async throws {
    try write("slot = 1\n")
    let run = try await Take5Command.run(command + ["--config", file])
    #expect(run.status == 78 && run.errors.contains("\(file):1: unknown key 'slot': did you mean 'slots'?"), "\(run)")
    let missing = try await Take5Command.run(command + ["--config", "/nowhere/take5.conf"])
    #expect(missing.status == 78 && missing.errors.contains("/nowhere/take5.conf"), "\(missing)")
    #expect(try await Take5Command.run(["version", "--json"], environment: ["TAKE5_CONFIG": file]).status == 0)
  }

  @Test(
    "the check before a restart, doctor and the start agree on each file that an option names",
    arguments: [
      ("definitions", "{\n  \"name\": \"take5-post\",\n}", "line 3, column 1"), ("definitions", nil, "cannot be read"),
      ("collections", "[]", "expected an object, not a list"), ("collections", nil, "cannot be read"),
      ("identity-providers", "[]", "0 identity providers"), ("apns", "{}", "key_id is missing"),
      ("notifications", "{", "line 1, column 2"), ("push-certificates", "none", "certificates in PEM"),
    ] as [(String, String?, String)])
  func agreement(key: String, content: String?, reason: String) async throws {
    let isFolder = key == "definitions" || key == "collections"
    let path = "\(folder.path)/\(key)"
    if let content {
      if isFolder { try Folder.make(path) }
      try Descriptor(writing: isFolder ? "\(path)/a.json" : path, replacing: true).write(Array(content.utf8))
    }
    try write("\(key) = \(path)\ndata = \(folder.path)/data\nlisten = 127.0.0.1:0\nslots = 0\n")
    let config = try await Take5Command.run(["config", "--config", file])
    #expect(config.status == 78 && config.errors.contains(path), "\(config)")
    let doctor = try await Take5Command.run(["doctor", "--config", file])
    #expect(doctor.status == 1 && doctor.output.contains(path), "\(doctor)")
    let serve = try await Take5Command.run(["serve", "--config", file])
    #expect(serve.status == 78 && serve.errors.contains(path), "\(serve)")
    #expect(access("\(folder.path)/data", F_OK) != 0)
    for text in [config.errors, doctor.output, serve.errors] { #expect(text.contains(reason), "\(text)") }
  }

  @Test("doctor reports a wrong file as errors, and who can read it")
  func doctor() async throws {
    let data = "data = \(folder.path)/data\n"
    try write("slot = 1\n\(data)", mode: 0o666)
    guard chmod(file, 0o666) == 0 else { throw SystemError(call: "chmod") }
    let run = try await Take5Command.run(["doctor", "--config", file])
    #expect(run.status == 1 && run.output.contains("\(file):1: unknown key 'slot'"), "\(run)")
    #expect(run.output.contains("other users can change \(file)"))
    try write("database = postgresql://ada:sesame@127.0.0.1:1/x?connect_timeout=1\n\(data)")
    guard chmod(file, 0o644) == 0 else { throw SystemError(call: "chmod") }
    let secret = try await Take5Command.run(["doctor", "--config", file])
    #expect(secret.output.contains("every user can read the password in database of \(file)"), "\(secret)")
    #expect(!secret.output.contains("sesame"))
  }

  @Test("a service with a file listens and stores as the file says, and finds the URL of its database in a file")
  func service() async throws {
    try write("listen = 127.0.0.1:0\nslots = 0\ndata = '\(folder.path)/data'\nlog-format = json\n")
    let process = try RunningTake5()
    let url = try await process.start(["serve", "--config", file])
    #expect(url.hasPrefix("http://127.0.0.1:"), "\(process.log)")
    #expect(Folder.isFolder("\(folder.path)/data/blobs"))
    let secret = "\(folder.path)/database"
    let address = try Descriptor(reading: "\(folder.path)/data/postgres.url").contents()
    try Descriptor(writing: secret, replacing: false, mode: 0o600).write(address)
    let list = try await Take5Command.run(
      ["jobs", "stats", "--json"], environment: ["TAKE5_CONFIG": "/dev/null", "TAKE5_DATABASE_URL_FILE": secret])
    #expect(list.status == 0, "\(list)")
    // With the same options, the address is that of the running service.
    let port = url.split(separator: ":").last ?? ""
    let doctor = try await Take5Command.run(["doctor", "--config", file, "--listen", "127.0.0.1:\(port)"])
    #expect(doctor.status == 0 && doctor.output.contains("take5, which is running"), "\(doctor)")
    await process.send(signal: SIGTERM)
    #expect(await process.wait() == 0)
  }

  @Test("an unknown variable near to one of ours is a warning, and the command runs")
  func variable() async throws {
    let run = try await Take5Command.run(["config"], environment: ["TAKE5_SLOT": "2", "TAKE5_SERVICE_HOST": "x"])
    #expect(run.status == 0)
    #expect(run.errors == "take5: warning: unknown variable TAKE5_SLOT: did you mean TAKE5_SLOTS?\n")
  }

  @Test("the example is a valid configuration")
  func example() async throws {
    let example = try await Take5Command.run(["config", "--example"])
    #expect(example.status == 0)
    try write(example.output)
    let run = try await Take5Command.run(["config", "--json", "--config", file])
    #expect(run.status == 0 && run.errors.isEmpty, "\(run)")
    #expect(try report(run).options.allSatisfy { $0.source == "default" || $0.option == "--config" })
  }
}
