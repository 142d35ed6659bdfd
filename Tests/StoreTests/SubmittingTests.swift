import Blobs
import Crypto
import Definitions
import FoundationEssentials
import Model
import Platform
import Postgres
import Queue
import Store
import StoreTesting
import Testing

@Suite("Submissions", .tags(.database))
struct SubmittingTests {
  @Test("a transaction that waits for the storage is reported")
  func waits() async throws {
    try await StoreFixture.with { fixture in
      let (blobs, blob) = (fixture.blobs, try fixture.seal("guarded"))
      let calls: [@Sendable () throws -> Void] = [
        { try blobs.publish(blob) }, { _ = try blobs.contains(blob.hash) },
        { _ = try blobs.open(blob.hash).number }, { _ = try blobs.damage(of: blob.hash, bytes: blob.bytes) },
        { _ = try blobs.stage().count }, { _ = try blobs.uploads() }, { _ = try blobs.freeBytes() },
        { _ = try blobs.listing(ofShard: 0) }, { _ = try FolderBlobStore.id(in: "/") }, { try blobs.remove(blob.hash) },
      ]
      for call in calls {
        try call()
        try await withKnownIssue {
          try await fixture.pool.transaction { _ in try call() }
        } matching: { issue in
          issue.comments.contains { $0.rawValue.contains("waits for the storage") }
        }
      }
    }
  }

  @Test("a post is read as it was submitted, with its job and without its sources")
  func roundTrip() async throws {
    try await StoreFixture.with { fixture in
      let draft = PostDraft(
        author: "ada", title: "A title", caption: "caption 'quoted' \u{1F600}",
        alternativeText: "A lake", visibility: .friends,
        place: Place(id: "p1", name: nil, coordinate: Coordinate(latitude: -33.9, longitude: 151.2)),
        location: Coordinate(latitude: 52.5, longitude: 13.4),
        capturedAt: Date(timeIntervalSince1970: 1_700_000_000.125),
        foreground: .back, fields: ["genre": .text("jazz"), "price": .number(7.5), "free": .boolean(true)], minAge: 18)
      #expect(Mirror(reflecting: draft).children.allSatisfy { "\($0.value)" != "nil" }, "the test sets every property")
      let id = try await fixture.submit(draft: draft)
      let post = try await fixture.post(id)
      #expect(post.draft == draft)
      #expect(post.status == .processing)
      #expect(post.job?.state == .available)
      #expect(post.assets.isEmpty)

      let claim = try await fixture.claim()
      #expect(claim.work.subject == .post(id))
      #expect(try claim.work.moment.foreground == .back)
      #expect(claim.job.author == "ada")
      #expect(claim.job.request == "request")
      #expect(try fixture.content(claim.work.moment.front) == "front")
      #expect(try fixture.content(claim.work.moment.back) == "back")
    }
  }

  @Test("a job uses the definition of its submission, regardless of later ones")
  func definitions() async throws {
    try await StoreFixture.with { fixture in
      try await fixture.submit { $0.canvas.framesPerSecond = 25 }
      try await fixture.submit { $0.canvas.framesPerSecond = 60 }
      let first = try await fixture.claim().work
      let second = try await fixture.claim().work
      #expect(try first.moment.definition.canvas.framesPerSecond == 25)
      #expect(try second.moment.definition.canvas.framesPerSecond == 60)
      #expect(first.definitionHash == SHA256.digest(of: try JSON.encode(first.moment.definition)))
      #expect(first.definitionHash != second.definitionHash)
    }
  }

  @Test("equal files are one blob")
  func sharing() async throws {
    try await StoreFixture.with { fixture in
      try await fixture.submit("same", "one")
      try await fixture.submit("same", "two")
      #expect(try await fixture.count("asset") == 4)
      #expect(try await fixture.count("blob") == 3)
      try await fixture.checkFiles()
    }
  }

  @Test("concurrent submissions of the same files, in either order, all succeed")
  func concurrentSharing() async throws {
    try await StoreFixture.with { fixture in
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<12 {
          group.addTask { _ = try await number.isMultiple(of: 2) ? fixture.submit("a", "b") : fixture.submit("b", "a") }
        }
        try await group.waitForAll()
      }
      #expect(try await fixture.count("blob") == 2)
      #expect(try await fixture.count("post") == 12)
      // Of each the first look and the outputs.
      #expect(try await fixture.count("job") == 24)
    }
  }

  @Test("a submission that fails leaves no post, no job and no row of a blob")
  func rollback() async throws {
    struct Refused: Error {}
    try await StoreFixture.with { fixture in
      let sources = try fixture.sources("x", "y")
      let definition = try Definitions.take5Post()
      await #expect(throws: Refused.self) {
        try await fixture.store.transaction(publishing: sources, fixture.pool) { session in
          _ = try fixture.store.submitPost(
            PostDraft(author: "ada"), sources: sources, definition: .clips(definition), request: nil, session)
          throw Refused()
        }
      }
      for table in ["post", "job", "blob", "asset", "asset_set"] { #expect(try await fixture.count(table) == 0) }
    }
  }
}
