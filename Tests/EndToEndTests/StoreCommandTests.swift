import Crypto
import FoundationEssentials
import Glibc
import HTTPTesting
import MediaFixtures
import Model
import Platform
import Postgres
import PostgresTesting
import Take5Testing
import Testing

@Suite("Store commands", .tags(.process), .timeLimit(.minutes(60)))
struct StoreCommandTests {
  private func json(_ command: Take5Command) throws -> API.Value {
    try JSONDecoder().decode(API.Value.self, from: Data(command.output.utf8))
  }

  private func codes(_ command: Take5Command) throws -> [String] {
    try json(command)["findings"]?.items.compactMap { $0["code"]?.text }.sorted() ?? []
  }

  /// Starts a service and submits a moment and a photo post, which become ready. It has no job left: what a test then changes stays as it is.
  private func service() async throws -> (Service, [String], moment: PublicID) {
    let service = try await Service()
    let front = try Clips.write(Clips.front, "front.mp4", in: service.folder)
    let back = try Clips.write(Clips.back, "back.mp4", in: service.folder)
    let moment = try await service.submitted(front: front, back: back)
    #expect(await service.process.waitForLog("post published"), "\(service.process.log)")
    let photo = try await service.api().submit(
      "/v1/posts",
      [("post", Array(#"{"kind":"photo","author":"ada"}"#.utf8)), ("photo", try Self.photo((200, 10, 10)))])
    #expect(photo["status"]?.text == "ready")
    try await service.waitForJobs()
    return (service, ["--data", service.data], moment.id)
  }

  static func photo(_ color: (UInt8, UInt8, UInt8)) throws -> [UInt8] {
    try PhotoFixture.jpeg(PhotoFixture.image(width: 640, height: 480) { _, _ in color })
  }

  /// The file of a post's asset.
  private func file(_ role: String, of post: PublicID, _ service: Service) async throws -> String {
    let hashes = try await service.texts(
      """
      SELECT encode(blob, 'hex') FROM asset JOIN post ON asset.asset_set_id IN (post.asset_set_id, post.source_set_id)
      WHERE post.public_id = '\(post)' AND role = '\(role)'
      """)
    let hash = try #require(hashes.first)
    return "\(service.data)/blobs/\(hash.prefix(2))/\(hash)"
  }

  @Test("a command of a newer version migrates nothing below a running service: it asks for take5 migrate")
  func migrated() async throws {
    let folder = try TemporaryFolder()
    try await withDatabase { url in
      let access = ["--data", "\(folder.path)/data", "--database", url.connectionString]
      #expect(try await Take5Command.run(["init"] + access).status == 0)
      // As the version before the last migration has left it.
      let session = try Session.connect(url, timeout: .seconds(20))
      try session.executeScript(
        "DELETE FROM schema_migration WHERE version = 148; ALTER TABLE place ADD COLUMN map_cell int", name: "former")
      for command in [["keys", "list"], ["jobs", "list"], ["verify"], ["gc"]] {
        let refused = try await Take5Command.run(command + access)
        #expect(refused.status == 65, "\(command)")
        #expect(refused.errors.contains("take5 migrate"), "\(refused.errors)")
      }
      #expect(try session.execute("SELECT FROM schema_migration WHERE version = 148").isEmpty)
      #expect(try await Take5Command.run(["migrate"] + access).status == 0)
      #expect(try session.execute("SELECT FROM schema_migration WHERE version = 148").count == 1)
      #expect(try await Take5Command.run(["keys", "list"] + access).status == 0)
      // A version whose migrations this one does not have.
      try session.executeScript("DELETE FROM schema_migration WHERE version > 142", name: "outdated")
      for command in ["init", "migrate", "serve", "worker", "verify"] {
        let refused = try await Take5Command.run([command] + access)
        #expect(refused.status == 65 && refused.errors.contains("version 142"), "\(command): \(refused.errors)")
        #expect(refused.errors.contains("start take5 of commit"), "\(command): \(refused.errors)")
      }
    }
  }

  @Test(
    "verify accepts a consistent store, and finds changed bytes, missing files and rows, orphans and wrong properties"
  )
  func verify() async throws {
    let (service, access, moment) = try await service()
    let consistent = try await Take5Command.run(["verify", "--deep"] + access)
    #expect(consistent.status == 0, "\(consistent.output)\(consistent.errors)")
    #expect(consistent.output.contains("the store is consistent") && consistent.output.contains("media decoded"))
    let json = try json(try await Take5Command.run(["verify", "--deep", "--json"] + access))
    #expect(json["whole"] == .boolean(true) && json["findings"]?.items.isEmpty == true)
    // Each blob is checked once.
    let assets = try await service.count("SELECT count(DISTINCT blob)::int FROM asset")
    #expect(json["checked"]?["media"]?.number == assets && assets > 12)

    // Properties of assets are only compared by decoding.
    _ = try await service.texts(
      """
      WITH changed AS (UPDATE asset SET width = 7 WHERE role = 'photo.large' RETURNING role),
      longer AS (UPDATE asset SET duration = 9 WHERE role = 'clip.back' RETURNING role)
      SELECT role FROM changed UNION SELECT role FROM longer
      """)
    #expect(try await Take5Command.run(["verify"] + access).status == 0)
    let deep = try await Take5Command.run(["verify", "--deep", "--json"] + access)
    #expect(deep.status == 1)
    #expect(try codes(deep) == ["media_properties", "media_properties"], "\(deep.output)")
    _ = try await service.texts(
      """
      WITH changed AS (UPDATE asset SET width = 640 WHERE role = 'photo.large' RETURNING role),
      longer AS (UPDATE asset SET duration = 5 WHERE role = 'clip.back' RETURNING role)
      SELECT role FROM changed UNION SELECT role FROM longer
      """)

    let composed = try await file("composed", of: moment, service)
    let opened = open(composed, O_WRONLY)
    try #require(opened >= 0)
    try Descriptor(owning: opened).write([0xA5], at: 1000)
    #expect(unlink(try await file("source.back", of: moment, service)) == 0)
    let orphan = String(repeating: "a", count: 64)
    try Descriptor(writing: "\(service.data)/blobs/aa/\(orphan)", replacing: false).write([1, 2, 3])
    _ = try await service.texts("DELETE FROM asset WHERE role = 'photo.small' RETURNING role")
    let broken = try await Take5Command.run(["verify", "--json"] + access)
    #expect(broken.status == 1)
    #expect(
      try codes(broken) == ["asset_missing", "blob_corrupt", "blob_unreferenced", "source_missing", "stray_file"])
    let corrupt = try #require(
      try self.json(broken)["findings"]?.items.first { $0["code"]?.text == "blob_corrupt" })
    #expect(corrupt["object"]?["kind"]?.text == "blob" && composed.hasSuffix(corrupt["object"]?["id"]?.text ?? "-"))
    #expect(corrupt["subjects"]?[0]?["id"]?.text == moment.description)
    // One of its sources is missing: it cannot be made again.
    #expect(corrupt["severity"]?.text == "lost" && corrupt["remedy"]?.text?.contains("backup") == true)
    let text = try await Take5Command.run(["verify"] + access)
    #expect(text.status == 1 && text.output.contains("blob_corrupt") && text.output.contains("inconsistent: 2 lost"))
    try await service.stop()
  }

  @Test("--repair makes damaged outputs again from their sources, with the same bytes")
  func remaking() async throws {
    let (service, access, moment) = try await service()
    let composed = try await file("composed", of: moment, service)
    let original = try Descriptor(reading: composed).contents()
    let opened = open(composed, O_WRONLY)
    try #require(opened >= 0)
    try Descriptor(owning: opened).write([0xA5], at: 1000)
    _ = try await service.texts("DELETE FROM asset WHERE role = 'photo.small' RETURNING role")
    let repaired = try await Take5Command.run(["verify", "--deep", "--repair", "--json"] + access)
    #expect(repaired.status == 0, "\(repaired.output)\(repaired.errors)")
    let codes = try json(repaired)["repaired"]?.items.compactMap { $0["code"]?.text }.sorted()
    #expect(codes == ["asset_missing", "blob_corrupt", "blob_unreferenced"])
    #expect(try Descriptor(reading: composed).contents() == original)
    #expect(try await file("composed", of: moment, service) == composed)
    #expect(try await service.post(moment).status == .ready)
    #expect(try await Take5Command.run(["verify", "--deep"] + access).status == 0)
    try await service.stop()
  }

  @Test("verify finds a stored clip that strict players refuse, and reprocessing repairs it")
  func invalidClip() async throws {
    let (service, access, moment) = try await service()
    let path = try await file("clip.front", of: moment, service)
    var bytes = try Descriptor(reading: path).contents()
    // A start code where the length of the first slice stands.
    let media = try #require(bytes.firstRange(of: Array("mdat".utf8))).upperBound
    let slice = try #require(bytes[media...].firstRange(of: [0x65, 0x88])).lowerBound
    bytes.replaceSubrange(slice - 4..<slice, with: [0, 0, 0, 1])
    let hash = SHA256.digest(of: bytes).hex
    let folder = "\(service.data)/blobs/\(hash.prefix(2))"
    if !exists(folder) { #expect(mkdir(folder, 0o700) == 0) }
    try Descriptor(writing: "\(folder)/\(hash)", replacing: false).write(bytes)
    #expect(unlink(path) == 0)
    // As an earlier version stored it, with another recipe.
    _ = try await service.texts(
      """
      WITH old AS (
        SELECT asset.id FROM asset
        WHERE blob = (SELECT blob FROM asset JOIN post USING (asset_set_id) WHERE post.public_id = '\(moment)' AND role = 'clip.front')),
      stored AS (INSERT INTO blob (hash, bytes) VALUES ('\\x\(hash)', \(bytes.count)) RETURNING hash),
      made AS (UPDATE asset SET blob = stored.hash FROM old, stored WHERE asset.id = old.id RETURNING asset_set_id)
      UPDATE asset_set SET recipe = sha256('before') FROM made WHERE asset_set.id = made.asset_set_id
      RETURNING encode(recipe, 'hex')
      """)
    _ = try await service.texts(
      "DELETE FROM blob WHERE encode(hash, 'hex') = '\(path.split(separator: "/").last ?? "")' RETURNING 'x'")
    #expect(try await Take5Command.run(["verify"] + access).status == 0)
    let found = try await Take5Command.run(["verify", "--deep", "--json"] + access)
    #expect(found.status == 1)
    #expect(try codes(found) == ["media_invalid"], "\(found.output)")
    let finding = try #require(try json(found)["findings"]?.items.first)
    #expect(finding["severity"]?.text == "damaged" && finding["subjects"]?[0]?["id"]?.text == moment.description)
    let run = try await Take5Command.run(["reprocess"] + access)
    #expect(run.status == 0, "\(run.output)\(run.errors)")
    let mended = try await Take5Command.run(["verify", "--deep"] + access)
    #expect(mended.status == 0, "\(mended.output)")
    try await service.stop()
  }

  @Test("gc --dry-run reports what gc removes, and verify succeeds afterwards")
  func collecting() async throws {
    let (service, access, moment) = try await service()
    let orphan = String(repeating: "b", count: 64)
    try Descriptor(writing: "\(service.data)/blobs/bb/\(orphan)", replacing: false).write([1, 2, 3])
    _ = try await service.texts("DELETE FROM post WHERE public_id = '\(moment)' RETURNING author")
    #expect(try await Take5Command.run(["verify"] + access).status == 1)
    let files = try service.blobFiles()
    let dry = try await Take5Command.run(["gc", "--dry-run", "--released-pause", "0", "--json"] + access)
    #expect(dry.status == 0)
    let planned = try json(dry)
    #expect(planned["dry_run"] == .boolean(true))
    #expect(try service.blobFiles() == files)
    let run = try await Take5Command.run(["gc", "--released-pause", "0", "--json"] + access)
    #expect(run.status == 0)
    let removed = try json(run)
    for key in ["loose_sets", "retired_sets", "answers", "blobs", "stray_files", "staged_files"] {
      #expect(removed[.key(key)] == planned[.key(key)], "\(key)")
    }
    #expect(removed["loose_sets"]?.number == 2 && removed["stray_files"]?["bytes"]?.number == 3)
    #expect(try service.blobFiles() < files)
    #expect(try await Take5Command.run(["gc"] + access).output == "nothing to remove\n")
    #expect(try await Take5Command.run(["verify", "--deep"] + access).status == 0)
    try await service.stop()
  }

  @Test("--repair removes orphans, a hold prevents it, and wrong arguments are refused")
  func repairing() async throws {
    let (service, access, _) = try await service()
    let orphan = String(repeating: "c", count: 64)
    let path = "\(service.data)/blobs/cc/\(orphan)"
    try Descriptor(writing: path, replacing: false).write([1])
    let hold = try await Take5Command.run(["gc", "hold", "--for", "10m"] + access)
    #expect(hold.status == 0 && hold.output.contains("no blobs are removed until"))
    let held = try await Take5Command.run(["verify", "--repair"] + access)
    #expect(held.status == 1 && held.output.contains("gc hold"))
    #expect(try await Take5Command.run(["gc"] + access).output.contains("no blobs are removed until"))
    #expect(exists(path))
    #expect(try await Take5Command.run(["gc", "release"] + access).status == 0)
    let late = try await Take5Command.run(["gc", "release", "--json"] + access)
    #expect(late.status == 1 && late.output == "{\"released\":false}\n")
    let repaired = try await Take5Command.run(["verify", "--repair", "--json"] + access)
    #expect(repaired.status == 0, "\(repaired.output)")
    #expect(try json(repaired)["repaired"]?[0]?["code"]?.text == "stray_file")
    #expect(!exists(path))

    #expect(try await Take5Command.run(["gc", "hold", "--for", "soon"] + access).status == 64)
    #expect(try await Take5Command.run(["database"] + access).status == 64)
    #expect(try await Take5Command.run(["database"] + access + ["no-such-program"]).status == 64)
    let psql = try await Take5Command.run(
      ["database"] + access + ["--", "psql", "-tAc", "SELECT count(*) FROM post"],
      environment: ["PATH": "/usr/bin:/bin"])
    #expect(psql.status == 0 && psql.output == "2\n", "\(psql.errors)")
    try await service.stop()
    // A store that cannot be read is neither consistent nor inconsistent.
    let away = try await Take5Command.run(
      ["verify", "--database", "postgresql://127.0.0.1:1/none", "--data", service.data])
    #expect(away.status == 69)
  }

  private func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }
}
