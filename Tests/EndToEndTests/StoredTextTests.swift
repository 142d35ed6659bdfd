import BoxTesting
import MediaFixtures
import Model
import Platform
import Postgres
import PostgresTesting
import Take5Testing
import Testing

/// Text that lies in clips: it is stored as the database can hold it, and never costs a moment.
@Suite("Text of clips", .tags(.process), .serialized)
struct StoredTextTests {
  /// A clip whose user data have a name with a NUL in it.
  private static func clip(_ seconds: Double, in folder: TemporaryFolder) throws -> String {
    let bytes = try TemporaryFile.bytes(of: MarkedClip(.red, seconds: seconds, tone: .init(440)).write())
    let odd = try #require(inserting(box("udta", box("a\0b\u{1}", Array("x\0y".utf8))), into: ["moov"], of: bytes))
    return try Clips.write(odd, "front.mp4", in: folder)
  }

  @Test("a NUL in the metadata costs a sound moment nothing, and a refused one no time")
  func nul() async throws {
    let service = try await Service()
    let back = try Clips.write(Clips.back, "back.mp4", in: service.folder)
    let sound = try await service.submitted(front: Self.clip(5, in: service.folder), back: back)
    #expect(await service.process.waitForLog("post published"))
    #expect(try await service.post(sound.id).status == .ready)
    let refused = try await service.submitted(front: Self.clip(4, in: service.folder), back: back)
    #expect(await service.process.waitForLog("post rejected"))
    #expect(try await service.post(refused.id).status == .rejected)
    #expect(try await service.count("SELECT max(attempt) FROM job_done") == 1)
    try await service.stop()
  }

  @Test("an ending that the database cannot hold is written without what was found")
  func unstorable() async throws {
    let service = try await Service()
    // Whatever it may be that cannot be held: every verdict that says something of the inputs.
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
    let sound = try await service.submitted(front: front, back: back)
    #expect(await service.process.waitForLog("post published"))
    #expect(try await service.post(sound.id).status == .ready)
    let short = try Clips.write(MarkedClip(.red, seconds: 4, tone: .init(440)), "short.mp4", in: service.folder)
    let refused = try await service.submitted(front: short, back: back)
    #expect(await service.process.waitForLog("post rejected"))
    let ended = try await service.post(refused.id)
    #expect(ended.status == .rejected)
    #expect(ended.reasons.map(\.code) == [.durationOutOfRange])
    try await service.stop()
  }
}
