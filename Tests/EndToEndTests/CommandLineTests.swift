import Glibc
import MediaFixtures
import Model
import Platform
import PostgresTesting
import Take5Testing
import Testing

@Suite("The command line", .tags(.process), .serialized)
struct CommandLineTests {
  let folder: TemporaryFolder
  let front: String
  let back: String

  init() throws {
    folder = try TemporaryFolder()
    front = try Clips.write(Clips.front, "front.mp4", in: folder)
    back = try Clips.write(Clips.back, "back.mp4", in: folder)
  }

  @Test("compose writes every output of the definition, the same bytes each time")
  func compose() async throws {
    var contents: [[UInt8]] = []
    for run in ["one", "two"] {
      let output = "\(folder.path)/\(run).mp4"
      let outputs = "\(folder.path)/\(run)"
      let composed = try await Take5Command.run(["compose", front, back, "-o", output, "--outputs", outputs, "--json"])
      #expect(composed.status == 0, "\(composed.errors)")
      let names = [
        "clip.back.mp4", "clip.front.mp4", "image.jpg", "poster.jpg", "preview.webp", "thumbnail.back.jpg",
        "thumbnail.front.jpg",
      ]
      #expect(try Folders.files(below: outputs).sorted() == names.map { "\(outputs)/\($0)" })
      contents.append(
        try ([output] + names.map { "\(outputs)/\($0)" }).flatMap { try Descriptor(reading: $0).contents() })
    }
    #expect(contents[0] == contents[1])
  }

  @Test("still takes the frame at its time, upright")
  func still() async throws {
    var clip = Clips.front
    clip.turn = .quarter
    let path = try Clips.write(clip, "turned.mp4", in: folder)
    let output = "\(folder.path)/still.jpg"
    let run = try await Take5Command.run(["still", path, "--at", "2.0", "-o", output])
    #expect(run.status == 0, "\(run.errors)")
    let picture = try StillImage(Descriptor(reading: output).contents())
    #expect(picture.width == 270 && picture.height == 480)
    #expect(picture.counter == 60)
  }

  @Test("what is no plain file is written to, never replaced")
  func devices() async throws {
    let pipe = "\(folder.path)/link.jpg"
    let target = "\(folder.path)/target.jpg"
    _ = try Clips.write([1, 2, 3], "target.jpg", in: folder)
    #expect(symlink(target, pipe) == 0)
    #expect(try await Take5Command.run(["still", front, "-o", pipe]).status == 74)
    #expect(try await Take5Command.run(["still", front, "-o", pipe, "--force"]).status == 0)
    var status = stat()
    #expect(lstat(pipe, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK)
    #expect(try Descriptor(reading: target).contents().starts(with: [0xFF, 0xD8]))
    #expect(try await Take5Command.run(["still", front, "-o", "/dev/null"]).status == 0)
    #expect(stat("/dev/null", &status) == 0 && status.st_mode & S_IFMT == S_IFCHR)
    #expect(try await Take5Command.run(["still", front, "-o", folder.path]).status == 74)
    #expect(try await Take5Command.run(["still", front, "-o", "\(folder.path)/none/still.jpg"]).status == 74)
  }

  @Test("jobs are listed, shown, cancelled and tried again")
  func jobs() async throws {
    let service = try await Service(workers: 0)
    let post = try await service.submitted(front: front, back: back)
    let job = try #require(post.job).id.description
    let access = ["--data", service.data]
    let listed = try await Take5Command.run(["jobs", "list", "--state", "available"] + access)
    #expect(listed.output.contains(job))
    let shown = try await Take5Command.run(["jobs", "show", job, "--json"] + access)
    #expect(shown.output.contains(#""state":"available""#))
    #expect(try await Take5Command.run(["jobs", "retry", job] + access).status == 65)
    #expect(try await Take5Command.run(["jobs", "cancel", job] + access).status == 0)
    #expect(try await service.post(post.id).status == .failed)
    #expect(try await service.post(post.id).job?.state == .cancelled)
    #expect(try await Take5Command.run(["jobs", "cancel", job] + access).status == 65)
    #expect(try await Take5Command.run(["jobs", "show", "no-id"] + access).status == 64)
    #expect(try await Take5Command.run(["jobs", "show", PublicID.now().description] + access).status == 66)
    try await service.stop()
  }

  @Test("a service that is not there is status 69, with a remedy")
  func unavailable() async throws {
    let run = try await Take5Command.run(["submit", "post", front, back, "--server", "http://127.0.0.1:1"])
    #expect(run.status == 69)
    #expect(run.errors.contains("take5 serve"))
    let database = try await Take5Command.run([
      "migrate", "--database", "postgresql://127.0.0.1:1/none?connect_timeout=1",
    ])
    #expect(database.status == 69)
  }

  @Test("every verb has a help, and wrong words have a remedy")
  func help() async throws {
    let all = try await Take5Command.run(["--help"])
    #expect(all.status == 0)
    for verb in [
      "serve", "worker", "submit post", "jobs list", "jobs show", "jobs retry", "jobs cancel", "jobs stats",
      "jobs watch", "validate", "compose",
      "still", "migrate", "version",
    ] {
      #expect(all.output.contains("  \(verb) "))
      let help = try await Take5Command.run(verb.split(separator: " ").map(String.init) + ["--help"])
      #expect(help.status == 0 && help.output.contains("example: take5 \(verb)"), "\(verb)")
    }
    #expect(try await Take5Command.run([]).status == 64)
    #expect(try await Take5Command.run(["jobs"]).status == 64)
    #expect(try await Take5Command.run(["compose", front, back]).status == 64)
    #expect(try await Take5Command.run(["version", "--json"]).output.contains(#""libavcodec""#))
  }
}
