import Crypto
import Glibc
import MediaFixtures
import Model
import Platform
import PostgresTesting
import Take5Testing
import Testing

/// Every command, and what may befall it: none ends well after doing less than it said, replaces an input, hangs, leaves
/// something half-made, or says more than a line and what helps.
@Suite("Whatever befalls a command", .tags(.process), .serialized, .timeLimit(.minutes(15)))
struct HarmlessCommandTests {
  /// A command with its inputs at hand; `OUT` is a file or a folder that is not there yet.
  struct Command: Sendable {
    let words: [String]
    /// Whether it reads media that are named.
    var reads = false
    /// Whether it writes what is called `OUT`.
    var writes = false
    /// Whether it is about the store in a data folder.
    var hasStore = false
    /// Whether it goes on until it is stopped.
    var isEndless = false

    var name: String { words.prefix(2).joined(separator: " ") }

    func words(_ replaced: [String: String]) -> [String] { words.map { replaced[$0] ?? $0 } }
  }

  private static let local = [
    Command(words: ["validate", "FRONT", "BACK"], reads: true),
    Command(words: ["inspect", "FRONT", "--json"], reads: true),
    Command(words: ["compose", "FRONT", "BACK", "-o", "OUT"], reads: true, writes: true),
    Command(words: ["compose", "FRONT", "BACK", "--outputs", "OUT"], reads: true, writes: true),
    Command(words: ["still", "FRONT", "-o", "OUT"], reads: true, writes: true),
    Command(words: ["photo", "PHOTO", "-o", "OUT"], reads: true, writes: true),
  ]
  private static let submitting = [
    Command(words: ["submit", "post", "FRONT", "BACK"], reads: true),
    Command(words: ["submit", "photo", "PHOTO"], reads: true),
    Command(words: ["submit", "marker", "PHOTO"], reads: true),
    Command(words: ["submit", "reaction", "POST", "PHOTO"], reads: true),
    Command(words: ["submit", "profile-image", "ada", "PHOTO"], reads: true),
    Command(words: ["submit", "thumbnail", "spring", "PHOTO"], reads: true),
    Command(words: ["submit", "place-photo", "gate", "PHOTO"], reads: true),
  ]
  private static let storing =
    [
      ["jobs", "list"], ["jobs", "stats"], ["jobs", "show", "JOB"], ["keys", "list"], ["keys", "create", "lost"],
      ["keys", "rotate", "--keep"], ["cron", "list"], ["gc", "--dry-run"], ["gc", "hold"], ["gc", "release"],
      ["verify", "--json"], ["verify", "--deep"], ["reprocess", "--dry-run"], ["reprocess", "status"], ["migrate"],
      ["database", "--", "true"],
    ].map { Command(words: $0, hasStore: true) }
  private static let endless = [
    Command(words: ["jobs", "watch"], hasStore: true, isEndless: true),
    Command(words: ["worker"], hasStore: true, isEndless: true),
  ]

  /// A folder with media, a store whose service runs, and a post that waits there.
  private struct Place {
    let service: Service
    let words: [String: String]
    let environment: [String: String]

    var folder: String { service.folder.path }
    private var inputs: [String] { ["FRONT", "BACK", "PHOTO"].compactMap { words[$0] } }

    init() async throws {
      service = try await Service(workers: 0)
      let front = try Clips.write(Clips.front, "front.mp4", in: service.folder)
      let back = try Clips.write(Clips.back, "back.mp4", in: service.folder)
      let photo = try Clips.write(StoreCommandTests.photo((90, 120, 60)), "photo.jpg", in: service.folder)
      let post = try await service.submitted(front: front, back: back)
      words = [
        "FRONT": front, "BACK": back, "PHOTO": photo, "POST": post.id.description,
        "JOB": try #require(post.job).id.description, "OUT": "\(service.folder.path)/out",
      ]
      environment = ["TAKE5_DATA": service.data, "TAKE5_SERVER": service.url]
    }

    func run(
      _ command: Command, _ redirection: String = "", replacing replaced: [String: String] = [:],
      limit: [String] = ["--kill-after=1", "60"], environment more: [String: String] = [:], _ words: [String] = []
    ) async throws -> ShellRun {
      try await ShellRun.run(
        command.words(self.words.merging(replaced) { $1 }) + words, redirection, limit: limit,
        environment: environment.merging(more) { $1 }, in: folder)
    }

    /// What tells the inputs apart from all other bytes.
    func digests() throws -> [SHA256Digest] {
      try inputs.map { SHA256.digest(of: try Descriptor(reading: $0).contents()) }
    }

    /// The names beside the inputs and the store.
    func leftovers() throws -> [String] {
      try Folder.names(in: folder).filter { !["front.mp4", "back.mp4", "photo.jpg", "data"].contains($0) }.sorted()
    }

    func removeOutputs() throws { for name in try leftovers() { try Folder.remove("\(folder)/\(name)") } }
  }

  private func expectBrief(_ run: ShellRun, _ what: String) {
    #expect(run.errors.count <= 2, "\(what) says \(run.errors)")
    #expect(run.status != 124 && run.status != 137, "\(what) hangs")
    #expect(run.status != 70, "\(what): \(run.errors)")
  }

  @Test("an input that is missing, a folder or not to be read is told with its name, and nothing is made")
  func inputs() async throws {
    let place = try await Place()
    var wrong = ["\(place.folder)/none.mp4", place.service.data]
    let locked = try Clips.write([1, 2, 3], "locked.mp4", in: place.service.folder)
    #expect(chmod(locked, 0) == 0)
    // Root may read everything.
    if geteuid() != 0 { wrong.append(locked) }
    for command in Self.local + Self.submitting {
      for path in wrong {
        let what = "\(command.name) of \(path)"
        let run = try await place.run(command, replacing: ["FRONT": path, "PHOTO": path])
        expectBrief(run, what)
        #expect(run.status == 66, "\(what): \(run.errors)")
        #expect((run.output + run.errors.joined()).contains(path), "\(what): \(run.errors)")
        #expect(try place.leftovers() == ["locked.mp4"], "\(what)")
      }
    }
    try await place.service.stop()
  }

  @Test("a folder without a store is refused by all but init and serve, and nothing is made in it")
  func stores() async throws {
    let place = try await Place()
    for command in Self.storing + Self.endless {
      let run = try await place.run(command, environment: ["TAKE5_DATA": "typo"])
      expectBrief(run, command.name)
      #expect(run.status == 66 && run.errors.joined().contains("typo"), "\(command.name): \(run.errors)")
      #expect(try place.leftovers().isEmpty, "\(command.name)")
    }
    let elsewhere = ["TAKE5_DATA": "new"]
    let made = try await place.run(Command(words: ["init"]), environment: elsewhere)
    #expect(made.status == 0 && made.output.contains("a new store in new"), "\(made.errors)")
    let again = try await place.run(Command(words: ["init"]), environment: elsewhere)
    #expect(again.status == 0 && again.output.contains("already"))
    for command in Self.storing where !command.words.contains("JOB") {
      let run = try await place.run(command, environment: elsewhere)
      #expect(run.status == 0, "\(command.name): \(run.errors)")
    }
    try await place.service.stop()
  }

  @Test("an answer that does not get out is status 74, and no key is made that nobody has seen")
  func answers() async throws {
    let place = try await Place()
    for command in Self.local + Self.submitting + Self.storing where !command.words.contains("true") {
      for redirection in [">/dev/full", ">&-"] {
        let what = "\(command.name) \(redirection)"
        let run = try await place.run(command, redirection)
        expectBrief(run, what)
        #expect(run.status == 74, "\(what): \(run.status) \(run.errors)")
        try place.removeOutputs()
      }
    }
    let keys = try await place.run(Command(words: ["keys", "list"]))
    #expect(keys.output.contains("no key yet"), "\(keys.output)")
    for words in [["--help"], ["serve", "--help"], ["version"]] {
      #expect(try await place.run(Command(words: words), ">/dev/full").status == 74, "\(words)")
    }
    try await place.service.stop()
  }

  @Test("who reads no further ends a command")
  func readers() async throws {
    let place = try await Place()
    // The first line is there at once: the post waits.
    let watching = try await place.run(Command(words: ["jobs", "watch"]), "| head -n 1")
    #expect(watching.status == 0 && watching.output.split(separator: "\n").count == 1, "\(watching)")
    for path in ["-", "/dev/stdout"] {
      let video = try await place.run(Command(words: ["compose", "FRONT", "BACK", "-o", path]), "| head -c 8")
      #expect(video.status == 0 && video.output.hasSuffix("ftyp"), "\(video)")
    }
    let whole = try await place.run(Command(words: ["still", "FRONT", "-o", "-"]), "| wc -c")
    #expect(Int(whole.output.filter { $0.isNumber }) ?? 0 > 1000 && whole.errors.count == 1, "\(whole)")
    #expect(try place.leftovers().isEmpty)
    try await place.service.stop()
  }

  @Test("no input is replaced, and no other file without --force")
  func files() async throws {
    let place = try await Place()
    let before = try place.digests()
    for command in Self.local
    where command.writes && !command.words.contains("--outputs") && command.words[0] != "photo" {
      for input in ["FRONT", "BACK"] where command.words.contains(input) {
        let path = place.words[input] ?? ""
        for more in [[], ["--force"]] {
          let run = try await place.run(command, replacing: ["OUT": path], more)
          expectBrief(run, command.name)
          #expect(run.status == 64 && run.errors.joined().contains(path), "\(command.name): \(run.errors)")
        }
      }
      // A second name of an input is the input.
      #expect(link(place.words["FRONT"] ?? "", "\(place.folder)/second.mp4") == 0)
      let run = try await place.run(command, replacing: ["OUT": "second.mp4"], ["--force"])
      #expect(run.status == 64, "\(command.name): \(run.errors)")
      #expect(unlink("\(place.folder)/second.mp4") == 0)
    }
    for command in Self.local where command.writes {
      #expect(try await place.run(command).status == 0, "\(command.name)")
      let made = try Self.contents(of: place.words["OUT"] ?? "")
      let again = try await place.run(command)
      #expect(again.status == 74 && again.errors.joined().contains("--force"), "\(command.name): \(again.errors)")
      #expect(try Self.contents(of: place.words["OUT"] ?? "") == made)
      let forced = try await place.run(command, "", ["--force"])
      #expect(forced.status == 0, "\(command.name): \(forced.errors)")
      try place.removeOutputs()
    }
    let twice = try await place.run(
      Command(words: ["compose", "FRONT", "BACK", "--outputs", "OUT", "-o", "out/poster.jpg"]))
    #expect(twice.status == 64, "\(twice.errors)")
    #expect(try place.leftovers().isEmpty)
    #expect(try place.digests() == before)
    try await place.service.stop()
  }

  private static func contents(of path: String) throws -> [SHA256Digest] {
    let files = Folder.isFolder(path) ? try Folders.files(below: path).sorted() : [path]
    return try files.map { SHA256.digest(of: try Descriptor(reading: $0).contents()) }
  }

  @Test(
    "a full disk is told with what could not be written, and nothing half-made stays",
    .enabled(if: MountedFolder.isAllowed, "only who may mount can fill a disk"))
  func fullDisk() async throws {
    let place = try await Place()
    let disk = "\(place.folder)/disk"
    try Folder.make(disk)
    let mounted = try MountedFolder(disk, megabytes: 1)
    try mounted.fill()
    for command in Self.local where command.writes {
      let out = "\(disk)/out"
      let run = try await place.run(command, replacing: ["OUT": out])
      expectBrief(run, command.name)
      #expect(run.status == 74 && (run.output + run.errors.joined()).contains("disk"), "\(command.name): \(run.errors)")
      #expect(try Folder.names(in: disk) == [".ballast"], "\(command.name)")
    }
    let store = try await place.run(Command(words: ["init"]), environment: ["TAKE5_DATA": "\(disk)/data"])
    expectBrief(store, "init")
    #expect(store.status == 69 && store.errors.joined().contains("disk/data"), "\(store.errors)")
    try await place.service.stop()
    withExtendedLifetime(mounted) {}
  }

  @Test("a signal at any moment is status 130 and one line, and leaves nothing half-made")
  func signals() async throws {
    let place = try await Place()
    let before = try place.digests()
    let waiting = [
      Command(words: ["submit", "post", "FRONT", "BACK", "--wait"]),
      Command(words: ["verify", "--deep"]), Command(words: ["database", "--", "sleep", "60"]),
    ]
    for (number, command) in (Self.local + waiting + Self.endless).enumerated() {
      for moment in 0..<10 {
        // Spread over what the commands take, and the same each time.
        let milliseconds = 10 + (moment * 269 + number * 83) % 690
        let signal = moment % 2 == 0 ? "INT" : "TERM"
        let what = "\(command.name), SIG\(signal) after \(milliseconds) ms"
        let seconds = "0.\(String(1000 + milliseconds).dropFirst())"
        let run = try await place.run(
          command, limit: ["--foreground", "--preserve-status", "--kill-after=20", "--signal=\(signal)", seconds])
        if command.isEndless {
          #expect([0, 130].contains(run.status) || run.errors.isEmpty && run.status == 143, "\(what): \(run)")
          continue
        }
        expectBrief(run, what)
        switch run.status {
        case 0: #expect(command.words[0] != "submit", "\(what)")
        case 130 where run.errors.isEmpty, 143 where run.errors.isEmpty: break
        case 130: #expect(run.errors.count == 1, "\(what): \(run.errors)")
        default: Issue.record("\(what): \(run.status) \(run.errors)")
        }
        if run.status != 0 { #expect(try place.leftovers().isEmpty, "\(what)") }
        try place.removeOutputs()
      }
    }
    #expect(try place.digests() == before)
    try await place.service.stop()
  }

  @Test("a bar is no longer than a line of the terminal, and a dumb one gets none")
  func terminals() async throws {
    let place = try await Place()
    for (kind, columns) in [("xterm", 24), ("xterm", 60), ("dumb", 80)] {
      try place.removeOutputs()
      let words = Command(words: ["compose", "FRONT", "BACK", "-o", "OUT"]).words(place.words)
      let command = "stty cols \(columns); '\(Take5Binary.path)' \(words.joined(separator: " "))"
      let shown = try await onThread("test-terminal") { () throws -> String in
        let output = try Descriptor(unnamedIn: "/tmp")
        var configuration = ChildProcess.Configuration(
          path: "/usr/bin/script", arguments: ["--quiet", "--return", "--command", command, "/dev/null"])
        configuration.environment = ["PATH": "/usr/bin:/bin", "TERM": kind]
        configuration.directory = place.folder
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
    try await place.service.stop()
  }
}
