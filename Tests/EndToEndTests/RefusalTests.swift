import HTTPClient
import MediaFixtures
import Model
import Platform
import PostgresTesting
import Take5Testing
import Testing

@Suite("Refusals", .tags(.process), .serialized)
struct RefusalTests {
  /// A pair of files and the code with which they are refused.
  struct Case: Sendable, CustomTestStringConvertible {
    let name: String
    let code: ReasonCode
    /// The front clip; the back one is sound.
    let front: @Sendable (TemporaryFolder) throws -> String

    var testDescription: String { name }
  }

  static let text = "just some words, not a clip\n"
  static let playlist = "#EXTM3U\n#EXT-X-TARGETDURATION:5\n#EXTINF:5,\nfile:///etc/passwd\n#EXT-X-ENDLIST\n"
  static let concatenation = "ffconcat version 1.0\nfile /etc/passwd\n"

  static let cases: [Case] = [
    Case(name: "an empty file", code: .emptyFile) { try Clips.write([], "f.mp4", in: $0) },
    Case(name: "text named .mp4", code: .unsupportedContainer) { try Clips.write(Array(text.utf8), "f.mp4", in: $0) },
    Case(name: "an HLS playlist named .mp4", code: .unsupportedContainer) {
      try Clips.write(Array(playlist.utf8), "f.mp4", in: $0)
    },
    Case(name: "an ffconcat list named .mp4", code: .unsupportedContainer) {
      try Clips.write(Array(concatenation.utf8), "f.mp4", in: $0)
    },
    Case(name: "a truncated clip", code: .truncatedContainer) { folder in
      let bytes = try TemporaryFile.bytes(of: Clips.front.write())
      return try Clips.write(Array(bytes.prefix(bytes.count * 2 / 3)), "f.mp4", in: folder)
    },
    Case(name: "sound alone", code: .noVideoStream) { folder in
      var clip = Clips.front
      clip.hasVideo = false
      return try Clips.write(clip, "f.mp4", in: folder)
    },
    Case(name: "4.0 seconds", code: .durationOutOfRange) {
      try Clips.write(MarkedClip(.red, seconds: 4, tone: .init(440)), "f.mp4", in: $0)
    },
    Case(name: "6.0 seconds", code: .durationOutOfRange) {
      try Clips.write(MarkedClip(.red, seconds: 6, tone: .init(440)), "f.mp4", in: $0)
    },
    Case(name: "30 seconds", code: .durationOutOfRange) {
      try Clips.write(MarkedClip(.red, seconds: 30, tone: .init(440)), "f.mp4", in: $0)
    },
    Case(name: "the same file twice", code: .sameFileTwice) { try Clips.write(Clips.back, "f.mp4", in: $0) },
  ]

  @Test("the command line refuses with the code and status 65, and leaves nothing", arguments: cases)
  func commandLine(of example: Case) async throws {
    let folder = try TemporaryFolder()
    let front = try example.front(folder)
    let back = try Clips.write(Clips.back, "back.mp4", in: folder)
    let validated = try await Take5Command.run(["validate", front, back, "--json"])
    #expect(validated.status == 65, "\(validated.errors)")
    let verdict = try JSON.decode(Verdict.self, from: Array(validated.output.utf8))
    #expect(verdict.verdict == .rejected)
    #expect(verdict.reasons.contains { $0.code == example.code }, "\(validated.output)")
    #expect(verdict.reasons.allSatisfy { !$0.detail.isEmpty })

    let composed = try await Take5Command.run(
      ["compose", front, back, "-o", "\(folder.path)/out.mp4", "--outputs", "\(folder.path)/outputs"])
    #expect(composed.status == 65)
    #expect(composed.errors.contains(example.code.rawValue))
    #expect(try Folders.files(below: folder.path).sorted() == [back, front].sorted())
  }

  @Test("over HTTP each is refused with its code, and nothing stays behind")
  func overHTTP() async throws {
    let service = try await Service()
    let back = try Clips.write(Clips.back, "back.mp4", in: service.folder)
    for example in Self.cases {
      let front = try example.front(service.folder)
      let answer = try await service.submit(front: front, back: back)
      if answer.status == 202 {
        // What only decoding finds.
        let post = try JSON.decode(PostAnswer.self, from: answer.body)
        #expect(await service.process.waitForLog("post rejected"), "\(example.name)")
        let ended = try await service.post(post.id)
        #expect(ended.status == .rejected, "\(example.name)")
        #expect(ended.reasons.contains { $0.code == example.code }, "\(example.name): \(ended.reasons)")
        #expect(ended.assets.isEmpty)
      } else {
        #expect(answer.status == 422, "\(example.name)")
        let problem = try JSON.decode(ProblemAnswer.self, from: answer.body)
        #expect(answer.headers["content-type"] == "application/problem+json")
        #expect(problem.reasons?.contains { $0.code == example.code } == true, "\(example.name)")
      }
    }
    // Collecting follows the verdict: a service that has ended has done it.
    #expect(try await service.count("SELECT count(*) FROM asset") == 0)
    #expect(try await service.count("SELECT count(*) FROM asset_set") == 0)
    #expect(try await service.stop() == 0)
    #expect(try service.blobFiles() == 0)
  }

  @Test("a missing part is named, with 400 and with status 64 or 66")
  func missing() async throws {
    let service = try await Service(workers: 0)
    let front = try Clips.write(Clips.front, "front.mp4", in: service.folder)
    let client = service.client
    let answer = try await onThread("test-client") {
      let form = [
        try FormPart(name: "front", path: front, type: "video/mp4"),
        FormPart(name: "post", json: Array(#"{"author":"ada"}"#.utf8)),
      ]
      return try client.post("/v1/posts", form: form) { _, _ in }
    }
    #expect(answer.status == 400)
    let problem = try JSON.decode(ProblemAnswer.self, from: answer.body)
    #expect(problem.errors?.map(\.field) == ["back"])
    #expect(try await service.count("SELECT count(*) FROM post") == 0)
    try await service.stop()
    #expect(try service.blobFiles() == 0)

    #expect(try await Take5Command.run(["validate", front]).status == 64)
    #expect(try await Take5Command.run(["validate", front, "/nowhere/back.mp4"]).status == 66)
  }

  @Test("clips of 4.6 and 5.4 seconds are accepted", arguments: [4.6, 5.4])
  func accepted(seconds: Double) async throws {
    let folder = try TemporaryFolder()
    let front = try Clips.write(MarkedClip(.red, seconds: seconds, tone: .init(440)), "front.mp4", in: folder)
    let back = try Clips.write(MarkedClip(.blue, seconds: seconds, tone: .init(1000)), "back.mp4", in: folder)
    let run = try await Take5Command.run(["validate", front, back, "--json"])
    #expect(run.status == 0, "\(run.output)")
  }
}
