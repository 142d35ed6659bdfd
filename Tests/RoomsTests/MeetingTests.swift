import Definitions
import Model
import Postgres
import Queue
import StoreTesting
import Testing
import WaitTesting

@testable import Kit
@testable import Rooms
@testable import Store

@Suite("Transactions that meet", .tags(.database), .timeLimit(.minutes(60)))
struct MeetingTests {
  // MARK: Jobs of what is deleted

  /// What is deleted while another transaction adds to it.
  enum Deletion: CaseIterable {
    case post, user, profileImage
  }

  @Test("a job that is enqueued while its subject is being deleted is cancelled", arguments: Deletion.allCases)
  func lateJob(_ deletion: Deletion) async throws {
    try await StoreFixture.with { fixture in
      let store = fixture.store
      let post = try await fixture.submit(draft: PostDraft(author: "ada"))
      let image =
        deletion == .profileImage
        ? ImageDraft(kind: .profile, owner: "ada") : ImageDraft(kind: .reaction, owner: "\(post)", author: "bob")
      let definition = try #require(try Definitions.photo(image.kind.definition))
      let source = NewAsset(role: .sourcePhoto, type: "image/jpeg", content: try fixture.seal("photo"))
      try await store.publish(contentOf: [source], fixture.pool)
      let submit = { @Sendable (session: Session) throws in
        _ = try Images.submit(
          image, for: .unrestricted, source: source, definition: definition, request: nil, store, session)
      }
      switch deletion {
      case .post:
        _ = try await fixture.meet(submit, holdingAfter: "INSERT", on: "image") { session in
          _ = try Posts.delete(post, for: .unrestricted, session)
        }
      case .user:
        let forget = try await fixture.forget("ada")
        _ = try await fixture.meet(submit, holdingAfter: "INSERT", on: "image", forget)
      case .profileImage:
        // The deletion waits for the owner once it has looked for jobs.
        try await fixture.whileLocked("hashtextextended('profile:ada', 0)") { unlock in
          async let deleting = fixture.pool.transaction { session in
            try Images.deleteAll(.profile, of: "ada", for: .unrestricted, session) { _ in }
          }
          try await fixture.waitForLocks(1)
          try await fixture.pool.transaction(submit)
          unlock()
          #expect(try await deleting)
        }
      }
      #expect(try await fixture.count("image") == 0)
      let isPostLeft = deletion == .profileImage
      // Of the post there are two, of which one makes the first look.
      #expect(try await fixture.count("job WHERE kind <> 'forget'") == (isPostLeft ? 2 : 0))
      #expect(try await fixture.count("job_done WHERE outcome = 'c'") == (isPostLeft ? 1 : 3))
    }
  }

  @Test("what its author deletes goes with its job, also if the author may not see it any more by then")
  func blockedMeanwhile() async throws {
    try await StoreFixture.with { fixture in
      let post = try await fixture.submit(draft: PostDraft(author: "ada", visibility: .public))
      try await fixture.publish(fixture.claim())
      let reaction = try await fixture.react(to: post, by: "bob")
      let conflicts = try await fixture.meet(
        { session in
          try session.execute("INSERT INTO relation (kind, user_id, target) VALUES ('block', 'ada', 'bob')")
          try session.execute("UPDATE job SET priority = priority WHERE state <> 'x'")
        }, holdingAfter: "UPDATE", on: "job",
        { session in
          let isDeleted = try Images.delete(reaction, .reaction, of: "\(post)", for: .user("bob"), session) { _ in }
          #expect(isDeleted)
        })
      #expect(conflicts == 0)
      #expect(try await fixture.count("image") == 0)
      #expect(try await fixture.count("job_done WHERE outcome = 'c'") == 1)
    }
  }

  @Test("what a deletion leaves for its next batch waits for no job", arguments: [Deletion.post, .user])
  func nextBatch(_ deletion: Deletion) async throws {
    try await StoreFixture.with { fixture in
      let post = try await fixture.submit(draft: PostDraft(author: "ada", visibility: .public))
      try await fixture.publish(fixture.claim())
      try await fixture.pool.run { session in
        try session.executeScript(
          """
          INSERT INTO image (public_id, kind, owner, author, status, post_id)
          SELECT gen_random_uuid(), 'reaction', post.public_id, 'fan', 'failed', post.id FROM post, generate_series(1, 60);
          INSERT INTO relation (kind, user_id, target)
          SELECT 'like', 'fan ' || n, '\(post)' FROM generate_series(1, 2500) AS n
          """, name: "rows")
      }
      _ = try await fixture.react(to: post, by: "bob")
      if deletion == .user {
        let job = try await fixture.pool.transaction {
          try Forgetting.start("ada", request: nil, $0, check: { _ in }).job
        }
        let deadline = Deadline("the last batch of a deletion")
        while try await fixture.pool.transaction({ try Forgetting.forgetBatch(ofJob: job, in: .all, $0) }) {
          try deadline.check()
          for table in ["image", "post"] {
            let waiting = "status = 'processing' AND NOT EXISTS (SELECT FROM job WHERE public_id = \(table).job)"
            #expect(try await fixture.count("\(table) WHERE \(waiting)") == 0)
          }
        }
        #expect(try await fixture.count("image") == 0)
      } else {
        let isDeleted = try await fixture.pool.transaction { try Posts.delete(post, for: .user("ada"), $0) }
        #expect(isDeleted)
        #expect(try await fixture.count("image WHERE author = 'bob' AND status = 'failed'") == 1)
      }
      #expect(try await fixture.count("job WHERE kind <> 'forget'") == 0)
    }
  }

  // MARK: The order of locks

  @Test("two changes of collections exchange their places")
  func collections() async throws {
    try await StoreFixture.with { fixture in
      let places = ["lake", "mill"]
      let trips = [try await fixture.trip(["lake"]), try await fixture.trip(["mill"])]
      let conflicts = try await fixture.meet(
        fixture.change(trips[0], to: [places[1]]), holdingAfter: "DELETE", on: "collection_item",
        fixture.change(trips[1], to: [places[0]]))
      #expect(conflicts == 0)
      #expect(try await fixture.count("place WHERE collection_count = 1") == 2)
    }
  }

  @Test("the uploads of a post end while the post is deleted")
  func uploads() async throws {
    try await StoreFixture.with { fixture in
      let post = try await fixture.pool.transaction { session in
        try AwaitedUploads.submit(
          PostDraft(author: "ada"), awaiting: [AwaitedUpload(upload: .now(), part: "front")], request: nil,
          session)
      }
      let conflicts = try await fixture.meet(
        { session in _ = try AwaitedUploads.reject(post, [.uploadExpired], session) },
        holdingAfter: "DELETE", on: "awaited_upload",
        { session in _ = try Posts.delete(post, for: .unrestricted, session) })
      #expect(conflicts == 0)
      #expect(try await fixture.count("post") == 0)
    }
  }

  /// What is done with something of a user who is deleted meanwhile.
  enum Meeting: CaseIterable {
    case deletionOfPost, endOfFriendship, departure, description, itinerary, map
  }

  @Test("a user is deleted while others work with what is the user's", arguments: Meeting.allCases)
  func deletion(_ meeting: Meeting) async throws {
    try await StoreFixture.with { fixture in
      let lake = Place(id: "lake", name: "Lake", coordinate: nil)
      let table: String
      var event = "DELETE"
      let other: @Sendable (Session) throws -> Void
      switch meeting {
      case .deletionOfPost:
        let post = try await fixture.write("ada")
        try await fixture.pool.transaction { session in
          _ = try Comments.insert(on: .post(post), for: .unrestricted, author: "bob", text: "Nice", session)
        }
        table = "comment"
        other = { session in _ = try Posts.delete(post, for: .unrestricted, session) }
      case .endOfFriendship:
        try await fixture.pool.transaction { session in
          for (one, another) in [("ada", "bob"), ("bob", "ada")] {
            _ = try Relations.relate(one, .friend, to: another, for: .unrestricted, session)
          }
        }
        table = "relation"
        other = { session in try Relations.unrelate("bob", .friend, to: "ada", session) { _ in } }
      case .departure:
        let trip = try await fixture.trip([])
        try await fixture.pool.transaction { session in
          try session.execute("INSERT INTO app_user (id) VALUES ('ada')")
          _ = try Collections.share(trip, with: "ada", as: .editor, for: .unrestricted, link: nil, session)
        }
        table = "collection_member"
        other = { session in _ = try Collections.unshare(trip, with: "ada", for: .unrestricted, session) }
      case .description:
        try await fixture.pool.transaction { session in
          for user in ["ada", "bob"] {
            _ = try Places.describe("lake", PlaceDescription(name: user), for: .user(user), session) { _ in }
          }
        }
        table = "place_description"
        other = { session in
          _ = try Places.describe("lake", PlaceDescription(name: "Lake"), for: .user("bob"), session) { _ in }
        }
      case .itinerary:
        let post = try await fixture.write("ada", at: lake)
        let trip = try await fixture.trip([], posts: [post])
        table = "image"
        other = fixture.change(trip, to: ["lake"])
      case .map:
        let (east, west) = (Coordinate(latitude: 10, longitude: 100), Coordinate(latitude: 10, longitude: -100))
        for place in [east, west] { _ = try await fixture.write("ada", location: place) }
        let post = try await fixture.write("bob", location: east)
        (event, table) = ("INSERT", "map_activity")
        other = { session in
          _ = try Posts.change(post, for: .unrestricted, PostChange(location: .set(west)), session)
        }
      }
      let conflicts = try await fixture.meet(
        fixture.forget("ada"), holdingAfter: event, on: table, other)
      #expect(conflicts == 0)
      #expect(try await fixture.count("forgetting") == 0)
    }
  }
}

extension StoreFixture {
  /// Starts the deletion of a user; returns its batches as one transaction, which takes all locks in their order too.
  fileprivate func forget(_ user: String) async throws -> @Sendable (Session) throws -> Void {
    let job = try await pool.transaction { try Forgetting.start(user, request: nil, $0, check: { _ in }).job }
    return { session in
      let deadline = Deadline("the last batch of a deletion")
      while try Forgetting.forgetBatch(ofJob: job, in: .all, session) { try deadline.check() }
    }
  }

  /// Submits a reaction.
  fileprivate func react(to post: PublicID, by author: String) async throws -> PublicID {
    let draft = ImageDraft(kind: .reaction, owner: "\(post)", author: author)
    let definition = try #require(try Definitions.photo(draft.kind.definition))
    let source = NewAsset(role: .sourcePhoto, type: "image/jpeg", content: try seal("photo"))
    try await store.publish(contentOf: [source], pool)
    let image = try await pool.transaction { [store] session in
      try Images.submit(
        draft, for: .unrestricted, source: source, definition: definition, request: nil, store, session)
    }
    return try #require(image)
  }

  /// Stores a post without media.
  fileprivate func write(_ author: String, at place: Place? = nil, location: Coordinate? = nil) async throws -> PublicID
  {
    let draft = PostDraft(kind: .marker, author: author, caption: "Here", place: place, location: location)
    let definition = try Definitions.take5Post()
    return try await pool.transaction { [store] session in
      try store.submitPost(draft, sources: [], definition: .clips(definition), request: nil, session)
    }
  }

  /// Stores an itinerary of bob's.
  fileprivate func trip(_ places: [String], posts: [PublicID] = []) async throws -> PublicID {
    let kind = try #require(try Definitions.collections()["itinerary"])
    let items = places.map { CollectionItem.Subject.place($0) } + posts.map { .post($0) }
    let content = CollectionContent(
      name: "Trip", fields: [:], items: items.map { CollectionItem(subject: $0, fields: [:]) })
    return try await pool.transaction { session in
      try Collections.create(kind, content, by: "bob", for: .unrestricted, session)
    }
  }

  /// A change of the items of a collection.
  fileprivate func change(_ collection: PublicID, to places: [String]) -> @Sendable (Session) throws -> Void {
    let items = places.map { CollectionItem(subject: .place($0), fields: [:]) }
    return { session in
      _ = try Collections.change(collection, for: .unrestricted, items: items, session) { collection in
        (CollectionContent(name: "Trip", fields: [:], items: items), ["items"], 10)
      }
    }
  }
}
