import Crypto
import Definitions
import Kit
import Model
import Postgres
import Queue
import Rooms
import Store
import StoreTesting
import Testing

@Suite("Images", .tags(.database))
struct ImageTests {
  /// The images of one kind and owner in a test.
  private struct Submitted {
    let fixture: StoreFixture
    let kind: ImageKind
    var owner = "ada"

    func submit(_ text: String) async throws -> PublicID { try #require(try await submitIfPossible(text)) }

    /// Submits an image; nil if the submission is refused.
    func submitIfPossible(_ text: String) async throws -> PublicID? {
      let source = NewAsset(role: .sourcePhoto, type: "image/jpeg", content: try fixture.seal(text))
      let definition = try #require(try Definitions.photo(kind.definition))
      let (store, draft) = (fixture.store, ImageDraft(kind: kind, owner: owner, author: "bob"))
      return try await store.transaction(publishing: [source], fixture.pool) { session in
        try Images.submit(
          draft, for: .unrestricted, source: source, definition: definition, request: nil, store, session)
      }
    }

    func publish(_ claim: StoreFixture.Claim, _ text: String) async throws {
      let output = NewAsset(
        role: .avatar, type: "image/jpeg", content: try fixture.seal(text), width: 512, height: 512, color: "#102030")
      let store = fixture.store
      _ = try await store.transaction(publishing: [output], fixture.pool) { session in
        try store.publish(
          [output], of: claim.work, recipe: SHA256.digest(of: [1]), job: claim.job, verdict: StoreFixture.accepted,
          seconds: 1, session)
      }
      try await fixture.collect()
    }

    /// Reads the content of the current image.
    func current() async throws -> String? {
      try await fixture.pool.run { session in
        try Images.current(kind, of: owner, role: .avatar, for: .unrestricted, session)?.content.inline.map {
          String(decoding: $0, as: UTF8.self)
        }
      }
    }

    func status(_ id: PublicID) async throws -> ImageStatus? {
      try await fixture.pool.run { try Images.find(id, for: .unrestricted, $0)?.status }
    }
  }

  @Test(
    "the old image stays until the new one is accepted, and is then removed completely",
    arguments: [
      ImageKind.profile, .itinerary,
    ])
  func replacement(kind: ImageKind) async throws {
    try await StoreFixture.with { fixture in
      let images = Submitted(fixture: fixture, kind: kind)
      let first = try await images.submit("one")
      try await images.publish(try await fixture.claim(), "first")
      #expect(try await images.current() == "first")
      _ = try await images.submit("two")
      let claim = try await fixture.claim()
      #expect(try await images.current() == "first")
      try await images.publish(claim, "second")
      #expect(try await images.current() == "second")
      #expect(try await images.status(first) == .replaced)
      // One set of outputs with its blob remains; the sources are dropped.
      for table in ["asset_set", "asset", "blob"] { #expect(try await fixture.count(table) == 1, "\(table)") }
    }
  }

  @Test("the image that was submitted last becomes current, not the one that was completed last")
  func order() async throws {
    try await StoreFixture.with { fixture in
      let images = Submitted(fixture: fixture, kind: .profile)
      let older = try await images.submit("one")
      let newer = try await images.submit("two")
      let (first, second) = (try await fixture.claim(), try await fixture.claim())
      #expect(first.work.subject == .image(older) && second.work.subject == .image(newer))
      try await images.publish(second, "second")
      try await images.publish(first, "first")
      #expect(try await images.current() == "second")
      #expect(try await images.status(older) == .replaced)
      for table in ["asset_set", "asset", "blob"] { #expect(try await fixture.count(table) == 1, "\(table)") }
    }
  }

  @Test("a rejected image does not change the current image and is removed completely where no sources are kept")
  func rejection() async throws {
    try await StoreFixture.with { fixture in
      let images = Submitted(fixture: fixture, kind: .profile)
      _ = try await images.submit("one")
      try await images.publish(try await fixture.claim(), "first")
      let rejected = try await images.submit("two")
      let claim = try await fixture.claim()
      let verdict = Verdict(
        reasons: [Reason(.corruptImage, input: .photo, detail: "Damaged.")], inputs: [:], decisions: [])
      let store = Store(blobs: fixture.blobs, rooms: .all, keepRejected: .zero, releasedPause: .zero)
      try await fixture.pool.transaction { session in
        try store.reject(claim.work, job: claim.job, verdict: verdict, session)
      }
      try await fixture.collect()
      #expect(try await images.current() == "first")
      #expect(try await images.status(rejected) == .rejected)
      for table in ["asset_set", "asset", "blob"] { #expect(try await fixture.count(table) == 1, "\(table)") }
    }
  }

  @Test("a place has all of its photos, the newest first, and none of another place")
  func several() async throws {
    try await StoreFixture.with { fixture in
      let tower = Submitted(fixture: fixture, kind: .place, owner: "tower")
      let lake = Submitted(fixture: fixture, kind: .place, owner: "lake")
      let first = try await tower.submit("one")
      let other = try await lake.submit("two")
      let second = try await tower.submit("three")
      for text in ["a", "b", "c"] { try await tower.publish(try await fixture.claim(), text) }
      let read = { (owner: String) in
        try await fixture.pool.run {
          try Images.list(.place, of: owner, for: .unrestricted, PageRequest(), $0).items.map(\.id)
        }
      }
      #expect(try await read("tower") == [second, first])
      #expect(try await read("lake") == [other])
      // The definition of place photos keeps the sources.
      #expect(try await fixture.count("asset_set") == 6)
    }
  }

  @Test("a reaction to a post that does not exist is refused")
  func reaction() async throws {
    try await StoreFixture.with { fixture in
      let orphan = Submitted(fixture: fixture, kind: .reaction, owner: PublicID.now().description)
      #expect(try await orphan.submitIfPossible("x") == nil)
      for table in ["image", "asset_set", "blob", "job"] { #expect(try await fixture.count(table) == 0, "\(table)") }
      let post = try await fixture.submit()
      let images = Submitted(fixture: fixture, kind: .reaction, owner: post.description)
      let id = try await images.submit("selfie")
      #expect(try await images.status(id) == .processing)
      let stored = try await fixture.pool.run { try Images.find(id, for: .unrestricted, $0) }
      #expect(stored?.draft.author == "bob")
    }
  }

  @Test("the photos of a post keep their order; a post without photos is ready at once")
  func posts() async throws {
    try await StoreFixture.with { fixture in
      let definition = try #require(try Definitions.photo("photo-post"))
      let store = fixture.store
      let sources = try ["a", "b", "c"].enumerated().map { index, text in
        NewAsset(role: .sourcePhoto, type: "image/jpeg", content: try fixture.seal(text), place: index)
      }
      let draft = PostDraft(kind: .photo, author: "ada", caption: "Words")
      let id = try await store.transaction(publishing: sources, fixture.pool) { session in
        try store.submitPost(draft, sources: sources, definition: .photos(definition), request: nil, session)
      }
      let claim = try await fixture.claim()
      guard case .photos(let work) = claim.work.content else {
        Issue.record("the work has no photos")
        return
      }
      #expect(try work.photos.map { try fixture.content($0) } == ["a", "b", "c"])
      let outputs =
        try (0..<3).map { index in
          NewAsset(
            role: .photoSmall, type: "image/jpeg", content: try fixture.seal("out \(index)"), width: index + 1,
            height: 1,
            place: index)
        } + [
          NewAsset(
            OutputFacts(role: .photoPreview, type: "image/webp", bytes: 9, width: 4, height: 2, duration: 1.5),
            of: PhotoReport(), place: 1, content: try fixture.seal("a preview"))
        ]
      _ = try await store.transaction(publishing: outputs, fixture.pool) { session in
        try store.publish(
          outputs, of: claim.work, recipe: SHA256.digest(of: [1]), job: claim.job, verdict: StoreFixture.accepted,
          seconds: 1, session)
      }
      let post = try await fixture.post(id)
      #expect(post.status == .ready && post.assets.isEmpty)
      #expect(post.photos.map { $0[.photoSmall]?.width } == [1, 2, 3])
      #expect(post.photos.map { $0[.photoPreview]?.duration } == [nil, 1.5, nil])

      let textOnly = try await fixture.pool.transaction { session in
        try store.submitPost(draft, sources: [], definition: .photos(definition), request: nil, session)
      }
      let textPost = try await fixture.post(textOnly)
      #expect(textPost.status == .ready && textPost.job == nil)
    }
  }
}
