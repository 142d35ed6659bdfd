import Crypto
import Glibc
import HTTPTesting
import Model
import Platform
import PostgresTesting
import Take5Testing
import Testing

@Suite("Damaged media", .tags(.process), .timeLimit(.minutes(60)))
struct DamagedMediaTests {
  /// A kind of damage to a file.
  enum Damage: String, CaseIterable, Sendable {
    case missing, truncated, corrupt

    func apply(to path: String) throws {
      switch self {
      case .missing: try #require(unlink(path) == 0)
      case .truncated: try #require(truncate(path, 1000) == 0)
      case .corrupt:
        let file = open(path, O_WRONLY)
        try #require(file >= 0)
        try Descriptor(owning: file).write([0xA5], at: 1000)
      }
    }
  }

  /// A service without background slots, and a moment that is ready.
  private func service() async throws -> (Service, PostResponse) {
    let service = try await Service(["--background-slots", "0"])
    let front = try Clips.write(Clips.front, "front.mp4", in: service.folder)
    let back = try Clips.write(Clips.back, "back.mp4", in: service.folder)
    let moment = try await service.submitted(front: front, back: back)
    try #require(await service.process.waitForLog("post published"), "\(service.process.log)")
    return (service, try await service.post(moment.id))
  }

  private func file(_ role: Role, of post: PublicID, _ service: Service) async throws -> (path: String, hash: String) {
    let hashes = try await service.texts(
      """
      SELECT encode(blob, 'hex') FROM asset JOIN post ON asset.asset_set_id IN (post.asset_set_id, post.source_set_id)
      WHERE post.public_id = '\(post)' AND role = '\(role.rawValue)'
      """)
    let hash = try #require(hashes.first)
    return ("\(service.data)/blobs/\(hash.prefix(2))/\(hash)", hash)
  }

  /// Whether `/metrics` counts one blob with this kind of damage.
  private func counted(_ damage: Damage, _ service: Service) async throws -> Bool {
    let text = String(decoding: try await service.api().get("/metrics").response.body, as: UTF8.self)
    return text.contains(#"take5_blobs_damaged_total{kind="\#(damage.rawValue)"} 1"#)
  }

  @Test("a damaged output is refused and made again by a worker", arguments: Damage.allCases)
  func madeAgain(damage: Damage) async throws {
    let (service, post) = try await service()
    let composed = try #require(post.assets[.composed])
    let (path, hash) = try await file(.composed, of: post.id, service)
    let original = try Descriptor(reading: path).contents()
    try damage.apply(to: path)

    let first = try await service.api().get(composed.url)
    // A wrong size is found before the response starts; wrong content only after the file was served.
    if damage != .corrupt { #expect(first.status == 503, "\(first.status)") }
    try #require(first.status != 500)
    try #require(
      try await service.count("SELECT count(*)::int FROM pg_class WHERE relname = 'blob_damage'") == 1,
      "the damage is not recorded")
    #expect(await service.process.waitForLog("a blob is damaged"), "\(service.process.log)")
    let line = try #require(
      service.process.log.split(separator: "\n").first { $0.contains("a blob is damaged") })
    #expect(line.contains(hash) && line.contains(path) && line.contains(damage.rawValue), "\(line)")
    #expect(try await counted(damage, service))

    let refused = try await service.api().get(composed.url)
    #expect(refused.status == 503)
    #expect(refused["type"]?.text == "urn:take5:problem:media_damaged")
    #expect(refused.response.headers["etag"] == nil && refused.response.headers["retry-after"] != nil)
    let part = try await service.api().get(composed.url, [("Range", "bytes=0-9")])
    #expect(part.status == 503)
    #expect(try await service.post(post.id).status == .ready)

    let worker = try await service.worker()
    #expect(await worker.waitForLog("post published"), "\(worker.log)\(service.process.log)")
    let repaired = try await service.api().get(composed.url)
    #expect(repaired.status == 200)
    #expect(repaired.response.body == original)
    #expect(repaired.response.headers["etag"] == "\"\(hash)\"")
    #expect(try await service.count("SELECT count(*)::int FROM blob_damage") == 0)
    await worker.send(signal: SIGTERM)
    _ = await worker.wait()
    let verified = try await Take5Command.run(["verify", "--deep", "--data", service.data])
    #expect(verified.status == 0, "\(verified.output)\(verified.errors)")
    try await service.stop()
  }

  @Test("what 'take5 verify' finds while a service runs is not sent from then on")
  func verified() async throws {
    let (service, post) = try await service()
    let composed = try #require(post.assets[.composed])
    let (path, hash) = try await file(.composed, of: post.id, service)
    // A file with a wrong size would be refused without a record.
    try Damage.corrupt.apply(to: path)
    let verified = try await Take5Command.run(["verify", "--data", service.data])
    #expect(verified.status == 1 && verified.output.contains(hash), "\(verified.output)\(verified.errors)")
    // The service has not read the file.
    #expect(!service.process.log.contains("a blob is damaged"))
    let refused = try await service.api().get(composed.url)
    #expect(refused.status == 503 && refused["type"]?.text == "urn:take5:problem:media_damaged", "\(refused.status)")
    #expect(refused.response.headers["retry-after"] != nil && refused.response.headers["etag"] == nil)
    #expect(try await service.post(post.id).status == .ready)
    try await service.stop()
  }

  @Test("an output whose source is damaged too is refused without Retry-After, and served again after a restore")
  func lost() async throws {
    let (service, post) = try await service()
    let composed = try #require(post.assets[.composed])
    let output = try await file(.composed, of: post.id, service)
    let source = try await file(.sourceBack, of: post.id, service)
    let original = try Descriptor(reading: output.path).contents()
    try Damage.corrupt.apply(to: source.path)
    try Damage.truncated.apply(to: output.path)
    #expect(try await service.api().get(composed.url).status == 503)
    #expect(
      await service.process.waitForLog("a damaged blob cannot be made again"), "\(service.process.log)")
    let refused = try await service.api().get(composed.url)
    #expect(refused.status == 503 && refused["type"]?.text == "urn:take5:problem:media_damaged")
    #expect(refused.response.headers["retry-after"] == nil)
    #expect(try await counted(.truncated, service))
    #expect(try await counted(.corrupt, service))
    #expect(service.process.log.contains(source.hash))

    try Descriptor(writing: output.path, replacing: true).write(original)
    try await service.execute("UPDATE blob_damage SET next_at = now()")
    #expect(await service.process.waitForLog("a damaged blob is intact again"), "\(service.process.log)")
    #expect(try await service.api().get(composed.url).status == 200)
    try await service.stop()
  }
}
