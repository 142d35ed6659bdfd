import Crypto
import Definitions
import Kit
import Model
import Postgres
import PostgresTesting
import Queue
import Rooms
import StoreTesting
import Testing

@testable import Store

@Suite("A promoted standby that has lost the end of a job", .tags(.database))
struct LostCommitTests {
  private static let tables = ["job", "image", "asset_set", "asset", "blob"]

  /// Sets the tables back to what was saved of them.
  private static let restoring =
    "SET session_replication_role = replica; "
    + tables.map { "DELETE FROM \($0); INSERT INTO \($0) OVERRIDING SYSTEM VALUE SELECT * FROM saved_\($0);" }
    .joined(separator: " ")
    + " DELETE FROM job_done; DELETE FROM blob_release; RESET session_replication_role"

  @Test("an image that was ready is made again, also where no sources are kept", arguments: ImageKind.allCases)
  func image(_ kind: ImageKind) async throws {
    try await StoreFixture.with { usual in
      let store = Store(blobs: usual.blobs, rooms: .all)
      let fixture = StoreFixture(blobs: usual.blobs, store: store, pool: usual.pool, url: usual.url)
      let id = try await Self.submit(kind, fixture)
      try await fixture.pool.run { session in
        let saving = Self.tables.map { "CREATE TABLE saved_\($0) AS SELECT * FROM \($0)" }.joined(separator: "; ")
        try session.executeScript(saving, name: "saving")
      }
      try await Self.publish(fixture)
      #expect(try await Self.status(of: id, fixture) == .ready)

      try await fixture.pool.run { try $0.executeScript(Self.restoring, name: "restoring") }
      #expect(try await Self.status(of: id, fixture) == .processing)
      #expect(try fixture.content(SHA256.digest(of: Array("selfie".utf8))) == "selfie")
      try await Self.publish(fixture)
      #expect(try await Self.status(of: id, fixture) == .ready)
      try await fixture.checkFiles()
    }
  }

  private static func submit(_ kind: ImageKind, _ fixture: StoreFixture) async throws -> PublicID {
    let store = fixture.store
    let source = NewAsset(role: .sourcePhoto, type: "image/jpeg", content: try fixture.seal("selfie"))
    let definition = try #require(try Definitions.photo(kind.definition))
    let text = try #require(try Definitions.photo("photo-post"))
    let id = try await store.transaction(publishing: [source], fixture.pool) { session in
      let post = try store.submitPost(
        PostDraft(kind: .photo, author: "ada", caption: "Words"), sources: [], definition: .photos(text), request: nil,
        session)
      return try Images.submit(
        ImageDraft(kind: kind, owner: kind == .reaction ? "\(post)" : "ada", author: "bob"), for: .unrestricted,
        source: source, definition: definition, request: nil, store, session)
    }
    return try #require(id)
  }

  private static func publish(_ fixture: StoreFixture) async throws {
    let (store, claim) = (fixture.store, try await fixture.claim())
    let output = NewAsset(
      role: .avatar, type: "image/jpeg", content: try fixture.seal("small"), width: 512, height: 512, color: "#102030")
    _ = try await store.transaction(publishing: [output], fixture.pool) { session in
      try store.publish(
        [output], of: claim.work, recipe: SHA256.digest(of: [1]), job: claim.job, verdict: StoreFixture.accepted,
        seconds: 1, session)
    }
    try await fixture.collect()
  }

  private static func status(of id: PublicID, _ fixture: StoreFixture) async throws -> ImageStatus? {
    try await fixture.pool.run { try Images.find(id, for: .unrestricted, $0)?.status }
  }
}
