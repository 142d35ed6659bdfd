import Crypto
import Glibc
import MediaFixtures
import Model
import Platform
import PostgresTesting
import Take5Testing
import Testing

/// Commands under failures: none reports success after a failure, replaces an input, hangs, leaves partial files, or
/// prints more than an error and a hint.
@Suite("Commands under failures", .tags(.process), .timeLimit(.minutes(60)))
struct HarmlessCommandTests {
  /// A command line with placeholders for its inputs; `OUT` is a file or a folder that does not exist.
  struct Command: Sendable {
    let arguments: [String]
    /// Whether the command reads media files.
    var reads = false
    /// Whether the command writes `OUT`.
    var writes = false
    /// Whether the command uses the store in a data folder.
    var hasStore = false
    /// Whether the command runs until it is stopped.
    var isEndless = false

    var name: String { arguments.prefix(2).joined(separator: " ") }

    func arguments(_ replaced: [String: String]) -> [String] { arguments.map { replaced[$0] ?? $0 } }
  }

  private static let local = [
    Command(arguments: ["validate", "FRONT", "BACK"], reads: true),
    Command(arguments: ["inspect", "FRONT", "--json"], reads: true),
    Command(arguments: ["compose", "FRONT", "BACK", "-o", "OUT", "--definition", "SMALL"], reads: true, writes: true),
    Command(
      arguments: ["compose", "FRONT", "BACK", "--outputs", "OUT", "--definition", "SMALL"], reads: true, writes: true),
    Command(arguments: ["still", "FRONT", "-o", "OUT"], reads: true, writes: true),
    Command(arguments: ["photo", "PHOTO", "-o", "OUT"], reads: true, writes: true),
  ]
  private static let submitting = [
    Command(arguments: ["submit", "post", "FRONT", "BACK", "--author", "me"], reads: true),
    Command(arguments: ["submit", "photo", "PHOTO", "--author", "me"], reads: true),
    Command(arguments: ["submit", "marker", "PHOTO", "--author", "me"], reads: true),
    Command(arguments: ["submit", "reaction", "POST", "PHOTO", "--author", "me"], reads: true),
    Command(arguments: ["submit", "profile-image", "ada", "PHOTO"], reads: true),
    Command(arguments: ["submit", "thumbnail", "spring", "PHOTO"], reads: true),
    Command(arguments: ["submit", "place-photo", "gate", "PHOTO", "--author", "me"], reads: true),
  ]
  private static let reading = [
    Command(arguments: ["posts", "list"]), Command(arguments: ["posts", "show", "POST"]),
  ]
  private static let storing =
    [
      ["jobs", "list"], ["jobs", "stats"], ["jobs", "show", "JOB"], ["keys", "list"], ["keys", "create", "lost"],
      ["keys", "rotate-signing", "--keep"], ["users", "list"], ["gc", "--dry-run"], ["gc", "hold"],
      ["gc", "release"],
      ["verify", "--json"], ["verify", "--deep"], ["reprocess", "--dry-run"], ["reprocess", "status"],
      ["quarantine", "list"],
      ["migrate"],
      ["database", "--", "true"], ["backup", "OUT"],
    ].map { Command(arguments: $0, hasStore: true) }
  private static let endless = [
    Command(arguments: ["worker"], hasStore: true, isEndless: true)
  ]

  /// A folder with media, and a store with a running service and a post that waits for a worker.
  private struct Workspace {
    let service: Service
    let paths: [String: String]
    let variables: [String: String]

    var folder: String { service.folder.path }
    private var inputs: [String] { ["FRONT", "BACK", "PHOTO"].compactMap { paths[$0] } }

    init() async throws {
      service = try await Service(workers: 0)
      let front = try Clips.write(Clips.front, "front.mp4", in: service.folder)
      let back = try Clips.write(Clips.back, "back.mp4", in: service.folder)
      let photo = try Clips.write(StoreCommandTests.photo((90, 120, 60)), "photo.jpg", in: service.folder)
      let post = try await service.submitted(front: front, back: back)
      paths = [
        "FRONT": front, "BACK": back, "PHOTO": photo, "POST": post.id.description,
        "JOB": try #require(post.job).id.description, "OUT": "\(service.folder.path)/out",
        "SMALL": try await EmptyStore.smallDefinition(),
      ]
      variables = ["TAKE5_DATA": service.data, "TAKE5_SERVER": service.url]
    }

    func run(
      _ command: Command, _ redirection: String = "", replacing replaced: [String: String] = [:],
      limit: [String] = ["--kill-after=1", "60"], environment more: [String: String] = [:], _ options: [String] = []
    ) async throws -> ShellRun {
      try await ShellRun.run(
        command.arguments(paths.merging(replaced) { $1 }) + options, redirection, limit: limit,
        environment: variables.merging(more) { $1 }, in: folder)
    }

    /// The hashes of the inputs.
    func digests() throws -> [SHA256Digest] {
      try inputs.map { SHA256.digest(of: try Descriptor(reading: $0).contents()) }
    }

    /// The names of files other than the inputs and the store.
    func outputs() throws -> [String] {
      try Folder.names(in: folder).filter { !["front.mp4", "back.mp4", "photo.jpg", "data"].contains($0) }.sorted()
    }

    func removeOutputs() throws { for name in try outputs() { try Folder.remove("\(folder)/\(name)") } }
  }

  private func expectBrief(_ run: ShellRun, _ what: String) {
    // The line with the id of a new post is no error.
    let errors = run.errors.filter { !$0.hasPrefix("take5: created ") }
    #expect(errors.count <= 2, "\(what): \(run.errors)")
    #expect(run.status != 124 && run.status != 137, "\(what) hangs")
    #expect(run.status != 70, "\(what): \(run.errors)")
  }

  @Test("a missing or unreadable input, or a folder, is reported with its path, and nothing is written")
  func inputs() async throws {
    let workspace = try await Workspace()
    var wrong = ["\(workspace.folder)/none.mp4", workspace.service.data]
    let locked = try Clips.write([1, 2, 3], "locked.mp4", in: workspace.service.folder)
    #expect(chmod(locked, 0) == 0)
    // Root can read every file.
    if geteuid() != 0 { wrong.append(locked) }
    for command in Self.local + Self.submitting {
      for path in wrong {
        let what = "\(command.name) of \(path)"
        let run = try await workspace.run(command, replacing: ["FRONT": path, "PHOTO": path])
        expectBrief(run, what)
        #expect(run.status == 66, "\(what): \(run.errors)")
        #expect((run.output + run.errors.joined()).contains(path), "\(what): \(run.errors)")
        #expect(try workspace.outputs() == ["locked.mp4"], "\(what)")
      }
    }
    try await workspace.service.stop()
  }

  @Test("all commands except init and serve refuse a folder without a store, and write nothing in it")
  func stores() async throws {
    let workspace = try await Workspace()
    for command in Self.storing + Self.endless {
      let run = try await workspace.run(command, environment: ["TAKE5_DATA": "typo"])
      expectBrief(run, command.name)
      #expect(run.status == 66 && run.errors.joined().contains("typo"), "\(command.name): \(run.errors)")
      #expect(try workspace.outputs().isEmpty, "\(command.name)")
    }
    let elsewhere = ["TAKE5_DATA": "new"]
    let made = try await workspace.run(Command(arguments: ["init"]), environment: elsewhere)
    #expect(made.status == 0 && made.output.contains("created a store in new"), "\(made.errors)")
    let again = try await workspace.run(Command(arguments: ["init"]), environment: elsewhere)
    #expect(again.status == 0 && again.output.contains("already exists"))
    for command in Self.storing where !command.arguments.contains("JOB") {
      let run = try await workspace.run(command, environment: elsewhere)
      #expect(run.status == 0, "\(command.name): \(run.errors)")
    }
    try await workspace.service.stop()
  }

  @Test("a failure of standard output is status 74, and a key that cannot be printed is not stored")
  func answers() async throws {
    let workspace = try await Workspace()
    for command in Self.local + Self.submitting + Self.reading + Self.storing where !command.arguments.contains("true")
    {
      for redirection in [">/dev/full", ">&-"] {
        let what = "\(command.name) \(redirection)"
        let run = try await workspace.run(command, redirection)
        expectBrief(run, what)
        #expect(run.status == 74, "\(what): \(run.status) \(run.errors)")
        try workspace.removeOutputs()
      }
    }
    let keys = try await workspace.run(Command(arguments: ["keys", "list"]))
    #expect(keys.output.contains("no keys"), "\(keys.output)")
    for arguments in [["--help"], ["serve", "--help"], ["version"]] {
      #expect(try await workspace.run(Command(arguments: arguments), ">/dev/full").status == 74, "\(arguments)")
    }
    try await workspace.service.stop()
  }

  @Test("a command ends when the reader of its output closes the pipe")
  func readers() async throws {
    let workspace = try await Workspace()
    for path in ["-", "/dev/stdout"] {
      let video = try await workspace.run(
        Command(arguments: ["compose", "FRONT", "BACK", "-o", path, "--definition", "SMALL"]), "| head -c 8")
      #expect(video.status == 0 && video.output.hasSuffix("ftyp"), "\(video)")
    }
    let complete = try await workspace.run(Command(arguments: ["still", "FRONT", "-o", "-"]), "| wc -c")
    #expect(Int(complete.output.filter { $0.isNumber }) ?? 0 > 1000 && complete.errors.count == 1, "\(complete)")
    #expect(try workspace.outputs().isEmpty)
    try await workspace.service.stop()
  }

  @Test("inputs are never replaced, and other files only with --force")
  func files() async throws {
    let workspace = try await Workspace()
    let before = try workspace.digests()
    for command in Self.local
    where command.writes && !command.arguments.contains("--outputs") && command.arguments[0] != "photo" {
      for input in ["FRONT", "BACK"] where command.arguments.contains(input) {
        let path = workspace.paths[input] ?? ""
        for more in [[], ["--force"]] {
          let run = try await workspace.run(command, replacing: ["OUT": path], more)
          expectBrief(run, command.name)
          #expect(run.status == 64 && run.errors.joined().contains(path), "\(command.name): \(run.errors)")
        }
      }
      // A hard link to an input is the same file.
      #expect(link(workspace.paths["FRONT"] ?? "", "\(workspace.folder)/second.mp4") == 0)
      let run = try await workspace.run(command, replacing: ["OUT": "second.mp4"], ["--force"])
      #expect(run.status == 64, "\(command.name): \(run.errors)")
      #expect(unlink("\(workspace.folder)/second.mp4") == 0)
    }
    for command in Self.local where command.writes {
      #expect(try await workspace.run(command).status == 0, "\(command.name)")
      let made = try Self.contents(of: workspace.paths["OUT"] ?? "")
      let again = try await workspace.run(command)
      #expect(again.status == 74 && again.errors.joined().contains("--force"), "\(command.name): \(again.errors)")
      #expect(try Self.contents(of: workspace.paths["OUT"] ?? "") == made)
      let forced = try await workspace.run(command, "", ["--force"])
      #expect(forced.status == 0, "\(command.name): \(forced.errors)")
      try workspace.removeOutputs()
    }
    let twice = try await workspace.run(
      Command(arguments: ["compose", "FRONT", "BACK", "--outputs", "OUT", "-o", "out/poster.jpg"]))
    #expect(twice.status == 64, "\(twice.errors)")
    #expect(try workspace.outputs().isEmpty)
    #expect(try workspace.digests() == before)
    try await workspace.service.stop()
  }

  private static func contents(of path: String) throws -> [SHA256Digest] {
    let files = Folder.isFolder(path) ? try Folders.files(below: path).sorted() : [path]
    return try files.map { SHA256.digest(of: try Descriptor(reading: $0).contents()) }
  }

  @Test(
    "a full disk is reported with the path, and no partial file stays",
    .enabled(if: MountedFolder.isAllowed, "mounting a file system requires root"))
  func fullDisk() async throws {
    let workspace = try await Workspace()
    let disk = "\(workspace.folder)/disk"
    try Folder.make(disk)
    let mounted = try MountedFolder(disk, megabytes: 1)
    try mounted.fill()
    for command in Self.local where command.writes {
      let out = "\(disk)/out"
      let run = try await workspace.run(command, replacing: ["OUT": out])
      expectBrief(run, command.name)
      #expect(run.status == 74 && (run.output + run.errors.joined()).contains("disk"), "\(command.name): \(run.errors)")
      #expect(try Folder.names(in: disk) == [".ballast"], "\(command.name)")
    }
    let store = try await workspace.run(Command(arguments: ["init"]), environment: ["TAKE5_DATA": "\(disk)/data"])
    expectBrief(store, "init")
    #expect(store.status == 69 && store.errors.joined().contains("disk/data"), "\(store.errors)")
    try await workspace.service.stop()
    withExtendedLifetime(mounted) {}
  }

  @Test("a signal at any time is status 130 with one line, and leaves no partial file")
  func signals() async throws {
    let workspace = try await Workspace()
    let before = try workspace.digests()
    let waiting = [
      Command(arguments: ["submit", "post", "FRONT", "BACK", "--author", "me", "--wait"]),
      Command(arguments: ["verify", "--deep"]), Command(arguments: ["database", "--", "sleep", "60"]),
    ]
    for (number, command) in (Self.local + waiting + Self.endless).enumerated() {
      for moment in 0..<10 {
        // Spread over the duration of the commands, and the same in each test run.
        let milliseconds = 10 + (moment * 269 + number * 83) % 690
        let signal = moment % 2 == 0 ? "INT" : "TERM"
        let what = "\(command.name), SIG\(signal) after \(milliseconds) ms"
        let seconds = "0.\(String(1000 + milliseconds).dropFirst())"
        let run = try await workspace.run(
          command, limit: ["--foreground", "--preserve-status", "--kill-after=20", "--signal=\(signal)", seconds])
        if command.isEndless {
          #expect([0, 130].contains(run.status) || run.errors.isEmpty && run.status == 143, "\(what): \(run)")
          continue
        }
        expectBrief(run, what)
        switch run.status {
        case 0: #expect(command.arguments[0] != "submit", "\(what)")
        case 130 where run.errors.isEmpty, 143 where run.errors.isEmpty: break
        // A post that is stored has its id and the commands that continue.
        case 130 where run.errors[0].hasPrefix("take5: created "):
          #expect(run.errors.count == 3, "\(what): \(run.errors)")
        case 130: #expect(run.errors.count == 1, "\(what): \(run.errors)")
        default: Issue.record("\(what): \(run.status) \(run.errors)")
        }
        if run.status != 0 { #expect(try workspace.outputs().isEmpty, "\(what)") }
        try workspace.removeOutputs()
      }
    }
    #expect(try workspace.digests() == before)
    try await workspace.service.stop()
  }

  @Test("a progress bar fits into a line of the terminal, and a dumb terminal has none")
  func terminals() async throws {
    let workspace = try await Workspace()
    for (kind, columns) in [("xterm", 24), ("xterm", 60), ("dumb", 80)] {
      try workspace.removeOutputs()
      let arguments = Command(arguments: ["compose", "FRONT", "BACK", "-o", "OUT"]).arguments(workspace.paths)
      let command = "stty cols \(columns); '\(Take5Binary.path)' \(arguments.joined(separator: " "))"
      let shown = try await onThread("test-terminal") { () throws -> String in
        let output = try Descriptor(unnamedIn: "/tmp")
        var configuration = ChildProcess.Configuration(
          path: "/usr/bin/script", arguments: ["--quiet", "--return", "--command", command, "/dev/null"])
        configuration.environment = ["PATH": "/usr/bin:/bin", "TERM": kind]
        configuration.directory = workspace.folder
        configuration.descriptors = [nil, output.number, output.number]
        #expect(try ChildProcess(configuration).wait() == .exited(0))
        return String(decoding: try output.contents(), as: UTF8.self)
      }
      let bars = shown.split(whereSeparator: { $0 == "\r" || $0.isNewline }).filter { $0.contains("composing") }
      if kind == "dumb" {
        #expect(bars.isEmpty && !shown.contains("\u{1B}"), "\(shown)")
      } else {
        #expect(!bars.isEmpty && bars.allSatisfy { $0.replacing("\u{1B}[K", with: "").count < columns }, "\(bars)")
      }
    }
    try await workspace.service.stop()
  }
}
