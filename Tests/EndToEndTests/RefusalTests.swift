import BoxTesting
import HTTPClient
import MediaFixtures
import Model
import Platform
import Postgres
import PostgresTesting
import Take5Testing
import Testing

@Suite("Rejected media", .tags(.process))
struct RefusalTests {
  /// A front clip and the code of its rejection.
  struct Case: Sendable, CustomTestStringConvertible {
    let name: String
    let code: ReasonCode
    /// Writes the front clip; the back clip is valid.
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
    Case(name: "audio only", code: .noVideoStream) { folder in
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

  @Test("the command line rejects with the code and status 65, and leaves no files", arguments: cases)
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

  @Test("clips of 4.6 and 5.4 seconds are accepted", arguments: [4.6, 5.4])
  func accepted(seconds: Double) async throws {
    let folder = try TemporaryFolder()
    let front = try Clips.write(MarkedClip(.red, seconds: seconds, tone: .init(440)), "front.mp4", in: folder)
    let back = try Clips.write(MarkedClip(.blue, seconds: seconds, tone: .init(1000)), "back.mp4", in: folder)
    let run = try await Take5Command.run(["validate", front, back, "--json"])
    #expect(run.status == 0, "\(run.output)")
  }
}

/// Text in the metadata of clips that the database cannot store.
@Suite("Text in clips", .tags(.process))
struct ClipTextTests {
  /// Writes a clip whose user data have a key with a NUL character.
  private static func clip(_ seconds: Double, in folder: TemporaryFolder) throws -> String {
    let bytes = try TemporaryFile.bytes(of: MarkedClip(.red, seconds: seconds, tone: .init(440)).write())
    let odd = try #require(inserting(box("udta", box("a\0b\u{1}", Array("x\0y".utf8))), into: ["moov"], of: bytes))
    return try Clips.write(odd, "front.mp4", in: folder)
  }

  @Test("a NUL character in the metadata affects neither an accepted nor a rejected moment")
  func nul() async throws {
    let service = try await Service()
    let back = try Clips.write(Clips.back, "back.mp4", in: service.folder)
    let valid = try await service.submitted(front: Self.clip(5, in: service.folder), back: back)
    #expect(await service.process.waitForLog("post published"))
    #expect(try await service.post(valid.id).status == .ready)
    let refused = try await service.submitted(front: Self.clip(4, in: service.folder), back: back)
    #expect(await service.process.waitForLog("post rejected"))
    #expect(try await service.post(refused.id).status == .rejected)
    #expect(try await service.count("SELECT max(attempt) FROM job_done WHERE kind <> 'look'") == 1)
    try await service.stop()
  }

  @Test("if the database cannot store a verdict, the job completes without the facts of the inputs")
  func unstorable() async throws {
    let service = try await Service()
    // The trigger refuses every verdict with facts of the inputs.
    try await service.execute(
      """
      CREATE FUNCTION refuse_findings() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        IF NEW.result -> 'inputs' <> '{}' THEN RAISE EXCEPTION 'cannot be held' USING ERRCODE = '22P05'; END IF;
        RETURN NEW;
      END $$;
      CREATE TRIGGER refuse_findings BEFORE INSERT ON job_done FOR EACH ROW EXECUTE FUNCTION refuse_findings();
      """)
    let (front, back) = (
      try Clips.write(Clips.front, "f.mp4", in: service.folder),
      try Clips.write(Clips.back, "b.mp4", in: service.folder)
    )
    let valid = try await service.submitted(front: front, back: back)
    #expect(await service.process.waitForLog("post published"))
    #expect(try await service.post(valid.id).status == .ready)
    let short = try Clips.write(MarkedClip(.red, seconds: 4, tone: .init(440)), "short.mp4", in: service.folder)
    let refused = try await service.submitted(front: short, back: back)
    #expect(await service.process.waitForLog("post rejected"))
    let rejected = try await service.post(refused.id)
    #expect(rejected.status == .rejected)
    #expect(rejected.reasons.map(\.code) == [.durationOutOfRange])
    try await service.stop()
  }
}
