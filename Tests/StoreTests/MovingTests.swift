import BlobTesting
import Blobs
import Crypto
import Glibc
import Model
import Platform
import Postgres
import PostgresTesting
import Rooms
import StoreTesting
import Testing

@testable import Store

@Suite("Moves of the blobs to another store", .tags(.database), .timeLimit(.minutes(60)))
struct MovingTests {
  private struct Folders {
    let folder: TemporaryFolder
    let old: BlobPlace<any InspectableBlobStore>
    let new: BlobPlace<any InspectableBlobStore>

    init() throws {
      folder = try TemporaryFolder()
      old = .folder("\(folder.path)/old")
      new = .folder("\(folder.path)/new")
    }
  }

  private static func seal(_ text: String, in blobs: any BlobStore) throws -> SealedBlob {
    try blobs.seal(Array(text.utf8))
  }

  /// Whether a process with these blobs may not insert one.
  private static func isRefused(_ blobs: any BlobStore, _ text: String, _ pool: Pool) async throws -> Bool {
    let asset = NewAsset(role: .sourceFront, type: "video/mp4", content: try seal(text, in: blobs))
    do {
      let store = Store(blobs: blobs, rooms: .all, releasedPause: .zero)
      try await store.transaction(publishing: [asset], pool) { session in
        _ = try store.insertSet([asset], definition: nil, recipe: nil, job: nil, session)
      }
      return false
    } catch BlobError.unavailable(let reason) {
      #expect(reason.contains("--blobs-next"))
      return true
    }
  }

  @Test("from the beginning of a move until its end, only a process that writes to both stores inserts blobs")
  func writers() async throws {
    try await StoreFixture.with { fixture in
      let (places, pool) = (try Folders(), fixture.pool)
      let old = try await DatabaseBlobs.open(in: places.old, pool)
      let both = try await DatabaseBlobs.open(in: places.old, movingTo: places.new, pool)
      let new = try places.new.open(.now())
      #expect(try await !Self.isRefused(old, "before", pool))
      #expect(try await pool.transaction { try Moving.begin(to: new.id, $0) })
      #expect(try await pool.transaction { try Moving.begin(to: new.id, $0) })
      #expect(try await !pool.transaction { try Moving.begin(to: .now(), $0) })
      #expect(try await Self.isRefused(old, "old alone", pool))
      #expect(try await Self.isRefused(new.blobs, "new alone", pool))
      #expect(try await !Self.isRefused(both, "both", pool))
      #expect(try await pool.transaction { try Moving.finish(to: new.id, $0) })
      #expect(try await Self.isRefused(old, "old alone", pool))
      #expect(try await !Self.isRefused(new.blobs, "new alone, later", pool))
      #expect(try await !Self.isRefused(both, "both, later", pool))
      // A process with both stores starts again as it was, and one without the new store does not.
      _ = try await DatabaseBlobs.open(in: places.old, movingTo: places.new, pool)
      await #expect(throws: BlobFolderRefusal.self) {
        _ = try await DatabaseBlobs.open(in: places.old, pool)
      }
      #expect(try await DatabaseBlobs.open(in: places.new, pool).ids == [new.id])
    }
  }

  @Test("a move that is cancelled leaves the blobs where they are, and a store cannot move to itself or to a third one")
  func refusals() async throws {
    try await StoreFixture.with { fixture in
      let (places, pool) = (try Folders(), fixture.pool)
      let old = try await DatabaseBlobs.open(in: places.old, pool)
      let new = try places.new.open(.now())
      await #expect(throws: BlobFolderRefusal.itself(old.ids[0])) {
        _ = try await DatabaseBlobs.open(in: places.old, movingTo: places.old, pool)
      }
      #expect(try await pool.transaction { try Moving.begin(to: new.id, $0) })
      await #expect(throws: BlobFolderRefusal.self) {
        _ = try await DatabaseBlobs.open(in: places.old, movingTo: .folder("\(places.folder.path)/third"), pool)
      }
      #expect(try await pool.transaction { try Moving.cancel($0) })
      #expect(try await !pool.transaction { try Moving.cancel($0) })
      #expect(try await !Self.isRefused(old, "old alone", pool))
      #expect(
        try await pool.run { try Moving.storeIDs($0) } == BlobStoreIDs(current: old.ids[0], next: nil, previous: nil))
    }
  }
}
