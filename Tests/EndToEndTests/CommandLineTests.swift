import FoundationEssentials
import Glibc
import MediaFixtures
import Model
import Platform
import PostgresTesting
import Take5Testing
import Testing

@Suite("Command line", .tags(.process))
struct CommandLineTests {
  let folder: TemporaryFolder
  let front: String
  let back: String

  init() throws {
    folder = try TemporaryFolder()
    front = try Clips.write(Clips.front, "front.mp4", in: folder)
    back = try Clips.write(Clips.back, "back.mp4", in: folder)
  }

  @Test("compose writes all outputs of the definition, with the same bytes in each run")
  func compose() async throws {
    var contents: [[UInt8]] = []
    for run in ["one", "two"] {
      let output = "\(folder.path)/\(run).mp4"
      let outputs = "\(folder.path)/\(run)"
      let composed = try await Take5Command.run(["compose", front, back, "-o", output, "--outputs", outputs, "--json"])
      #expect(composed.status == 0, "\(composed.errors)")
      let names = [
        "clip.back.mp4", "clip.front.mp4", "composed.small.mp4", "image.jpg", "poster.jpg", "preview.webp",
        "thumbnail.back.jpg", "thumbnail.front.jpg",
      ]
      #expect(try Folders.files(below: outputs).sorted() == names.map { "\(outputs)/\($0)" })
      contents.append(
        try ([output] + names.map { "\(outputs)/\($0)" }).flatMap { try Descriptor(reading: $0).contents() })
    }
    #expect(contents[0] == contents[1])
  }

  @Test("--sandbox off decodes with a warning on standard error")
  func sandboxOff() async throws {
    let run = try await Take5Command.run(["validate", front, back, "--sandbox", "off", "--json"])
    #expect(run.status == 0 && run.errors.contains("media are decoded without walls"), "\(run)")
    let wrong = try await Take5Command.run(["validate", front, back, "--sandbox", "some"])
    #expect(wrong.status == 64 && wrong.errors.contains("off, available, required"), "\(wrong)")
  }

  @Test("still extracts the frame at the given time, upright")
  func still() async throws {
    var clip = Clips.front
    clip.rotation = .quarter
    let path = try Clips.write(clip, "turned.mp4", in: folder)
    let output = "\(folder.path)/still.jpg"
    let run = try await Take5Command.run(["still", path, "--at", "2.0", "-o", output])
    #expect(run.status == 0, "\(run.errors)")
    let image = try StillImage(Descriptor(reading: output).contents())
    #expect(image.width == 270 && image.height == 480)
    #expect(image.counter == 60)
  }

  @Test("a symbolic link or a device is written to and not replaced")
  func devices() async throws {
    let link = "\(folder.path)/link.jpg"
    let target = "\(folder.path)/target.jpg"
    _ = try Clips.write([1, 2, 3], "target.jpg", in: folder)
    #expect(symlink(target, link) == 0)
    #expect(try await Take5Command.run(["still", front, "-o", link]).status == 74)
    #expect(try await Take5Command.run(["still", front, "-o", link, "--force"]).status == 0)
    var status = stat()
    #expect(lstat(link, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK)
    #expect(try Descriptor(reading: target).contents().starts(with: [0xFF, 0xD8]))
    #expect(try await Take5Command.run(["still", front, "-o", "/dev/null"]).status == 0)
    #expect(stat("/dev/null", &status) == 0 && status.st_mode & S_IFMT == S_IFCHR)
    #expect(try await Take5Command.run(["still", front, "-o", folder.path]).status == 74)
    #expect(try await Take5Command.run(["still", front, "-o", "\(folder.path)/none/still.jpg"]).status == 74)
  }

  @Test("a name that ends like another format is refused; other endings are not")
  func endings() async throws {
    for (arguments, name, ending) in [
      (["still", front], "still.PNG", ".jpg"), (["still", front], "still.mp4", ".jpg"),
      (["compose", front, back], "moment.webm", ".mp4"),
    ] {
      let run = try await Take5Command.run(arguments + ["-o", "\(folder.path)/\(name)"])
      #expect(run.status == 64 && run.errors.contains("\(name) ends like another format"), "\(name): \(run)")
      #expect(run.errors.contains("ends in \(ending)"), "\(name): \(run)")
    }
    for name in ["still.JPEG", "still.0001", "a.png/still"] {
      try? Folder.make("\(folder.path)/a.png")
      #expect(try await Take5Command.run(["still", front, "-o", "\(folder.path)/\(name)"]).status == 0, "\(name)")
    }
  }

  @Test("standard input is no input, and the message says so")
  func standardInput() async throws {
    for arguments in [
      ["inspect", "-"], ["still", "-", "-o", "\(folder.path)/still.jpg"], ["validate", front, "-"],
      ["submit", "photo", "-", "--author", "me"],
    ] {
      let run = try await Take5Command.run(arguments)
      #expect(run.status == 66, "\(arguments): \(run)")
      #expect((run.output + run.errors).contains("an input cannot be standard input"), "\(arguments): \(run)")
    }
  }

  @Test("jobs are listed, shown and cancelled, and only dead jobs are retried")
  func jobs() async throws {
    let service = try await Service(workers: 0)
    let post = try await service.submitted(front: front, back: back)
    let job = try #require(post.job).id.description
    let access = ["--data", service.data]
    let listed = try await Take5Command.run(["jobs", "list", "--state", "available"] + access)
    #expect(listed.output.contains(job))
    let shown = try await Take5Command.run(["jobs", "show", job, "--json"] + access)
    #expect(shown.output.contains(#""state":"available""#))
    let selected = try await Take5Command.run(["jobs", "cancel", "--kind", "post"] + access)
    #expect(selected.status == 64 && selected.errors.contains("the filter selects 1 job\n"), "\(selected)")
    #expect(try await Take5Command.run(["jobs", "retry", job] + access).status == 65)
    #expect(try await Take5Command.run(["jobs", "cancel", job] + access).status == 0)
    #expect(try await service.post(post.id).status == .failed)
    #expect(try await service.post(post.id).job?.state == .cancelled)
    #expect(try await Take5Command.run(["jobs", "cancel", job] + access).status == 65)
    #expect(try await Take5Command.run(["jobs", "show", "no-id"] + access).status == 64)
    #expect(try await Take5Command.run(["jobs", "show", PublicID.now().description] + access).status == 66)
    try await service.stop()
  }

  @Test(
    "a mistake in the arguments is status 64, and the message says what is meant or missing",
    arguments: [
      ("jobs lst", "unknown subcommand 'jobs lst': did you mean 'jobs list'?"),
      ("submit posts a b", "did you mean 'submit post'?"), ("users shwo ada", "did you mean 'users show'?"),
      ("definition chekc f", "did you mean 'definition check'?"), ("gc holt", "unexpected argument 'holt'"),
      ("keys delete 1", "unknown subcommand 'keys delete': create, list, revoke, rotate-signing"),
      ("jobs", "'jobs' needs a subcommand"), ("sevre", "unknown command 'sevre': did you mean 'serve'?"),
      ("submit post a b", "no author given"), ("submit photo a", "--author NAME"), ("submit marker", "no author given"),
      ("submit reaction 0199f0c2-8a1e-7c3d-9b5a-2f6d8e1c4a70 a", "no author given"),
      ("submit place-photo gate a", "no author given"),
      ("database psql -c x", "unknown option '-c': options of the program stand behind '--'"),
      ("database pg_dump --format custom", "take5 database -- PROGRAM --format"),
      ("jobs list --created-after 2026-13-01", "a day such as 2026-11-20"),
      ("jobs list --created-before soon", "must be a time such as"), ("jobs list --limit 0", "from 1 to 1000"),
      ("jobs list --state ready", "comma-separated list of scheduled"),
      ("users export ada", "name a file with -o FILE"),
      ("serve --min-free 10GB", "from 0 to 1073741824, in MiB, not '10GB'"),
      ("serve --port 80", "did you mean '--listen'?"),
      ("serve --slots", "--slots requires a value"), ("serve --film=yes", "--film does not take a value"),
      ("serve now", "unexpected argument 'now'"), ("verify --deeep", "did you mean '--deep'?"),
      ("compose a b", "no output given"), ("still a", "no output given"), ("definition write", "no output given"),
      ("reprocess --rate fast", "--rate must be"), ("backup", "missing argument DIR"),
    ])
  func mistakes(line: String, message: String) async throws {
    let run = try await Take5Command.run(line.split(separator: " ").map(String.init), in: folder.path)
    #expect(run.status == 64 && run.errors.contains(message), "\(line): \(run)")
  }

  @Test("an unreachable service or database is status 69 with a hint")
  func unavailable() async throws {
    let run = try await Take5Command.run([
      "submit", "post", front, back, "--author", "me", "--server", "http://127.0.0.1:1",
    ])
    #expect(run.status == 69)
    #expect(run.errors.contains("take5 serve"))
    let database = try await Take5Command.run([
      "migrate", "--database", "postgresql://127.0.0.1:1/none?connect_timeout=1",
    ])
    #expect(database.status == 69)
  }

  @Test("every command has a help, and wrong arguments have status 64")
  func help() async throws {
    let all = try await Take5Command.run(["--help"])
    #expect(all.status == 0)
    for command in [
      "serve", "worker", "submit post", "jobs list", "jobs show", "jobs retry", "jobs cancel", "jobs stats",
      "validate", "compose",
      "still", "migrate", "version",
    ] {
      #expect(all.output.contains("  \(command) "))
      let help = try await Take5Command.run(command.split(separator: " ").map(String.init) + ["--help"])
      #expect(help.status == 0 && help.output.contains("example: take5 \(command)"), "\(command)")
    }
    // A group has a help of its own, and 'help' stands before any command or group.
    for arguments in [["jobs", "--help"], ["help", "jobs"], ["users", "-h"], ["help", "submit"]] {
      let group = arguments.first { $0 != "help" } ?? ""
      let help = try await Take5Command.run(arguments)
      #expect(help.status == 0 && help.output.contains("usage: take5 \(group) COMMAND"), "\(help)")
      let listed = help.output.split(separator: "\n").filter { $0.hasPrefix("  ") }
      #expect(listed.count > 4 && listed.allSatisfy { $0.hasPrefix("  \(group) ") }, "\(help)")
    }
    let named = try await Take5Command.run(["help", "jobs", "list"])
    #expect(try await named.output == Take5Command.run(["jobs", "list", "--help"]).output)
    #expect(try await Take5Command.run(["reprocess", "--help"]).output.contains("  reprocess status "))
    let unknown = try await Take5Command.run(["help", "nonsense"])
    #expect(unknown.status == 64 && unknown.errors.contains("unknown command 'nonsense'"), "\(unknown)")
    let port = try await Take5Command.run(["serve", "--port", "8080"])
    #expect(port.status == 64 && port.errors.contains("did you mean '--listen'?"), "\(port)")
    #expect(try await Take5Command.run([]).status == 64)
    #expect(try await Take5Command.run(["jobs"]).status == 64)
    #expect(try await Take5Command.run(["compose", front, back]).status == 64)
    #expect(try await Take5Command.run(["version", "--json"]).output.contains(#""libavcodec""#))
  }
}

/// The result of `make demo`.
@Suite("Samples", .tags(.process))
struct SampleTests {
  /// The fields of `take5 compose --json` that tests read.
  private struct Output: Decodable {
    let warnings: [Warning]
    let inputs: [InputName: InputReport]
    let moment: MomentReport?
    let decisions: [Decision]
  }

  @Test("the decisions describe alignment, rotation, and the removal of identifying metadata")
  func decisions() async throws {
    let folder = try TemporaryFolder()
    let clips = ["front", "back"].map { "\(Document.root)/samples/\($0).mp4" }
    let run = try await Take5Command.run(["compose"] + clips + ["--outputs", folder.path, "--json"])
    #expect(run.status == 0, "\(run.errors)")
    let result = try JSON.decode(Output.self, from: Array(run.output.utf8))
    #expect(result.warnings.isEmpty)

    let moment = try #require(result.moment)
    // The cameras started 180 ms apart; the resolution of the alignment is half a millisecond.
    #expect(abs((moment.offsetSeconds ?? 0) - 0.18) < 0.002)
    #expect(moment.confidence > 0.8)
    func decisions(_ subject: Decision.Subject) -> [Decision] { result.decisions.filter { $0.subject == subject } }
    #expect(decisions(.alignment).map(\.choice) == ["the front's audio is 180 ms behind the back's"])

    let rotations = decisions(.transform)
    #expect(Set(rotations.compactMap(\.input)) == [.front, .back])
    #expect(result.inputs[.front]?.facts.video.transform == Transform(rotation: .quarter, mirrored: false))
    #expect(result.inputs[.back]?.facts.video.transform == Transform(rotation: .threeQuarters, mirrored: false))

    #expect(decisions(.privacy).count == 1)
    #expect(decisions(.privacy).first?.choice == "no identifying metadata is left")
    #expect(decisions(.privacy).first?.reason.hasSuffix("the inputs held metadata on device, place") == true)
  }
}
