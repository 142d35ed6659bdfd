import BlobTesting
import Blobs
import Crypto
import Glibc
import Model
import Platform
import Postgres
import PostgresTesting
import Store
import StoreTesting
import Testing

@Suite("The folder of the database's blobs", .tags(.database))
struct AdoptingTests {
  private static let (one, other) = (PublicID.now(), PublicID.now())

  @Test(
    "a folder is accepted if both ids are equal, or if it has the newest blobs and no other id is known",
    arguments: [
      (nil, nil, true, .adopted(nil)),
      (nil, nil, false, .refused(.lacksNewest)),
      (nil, Self.one, true, .adopted(Self.one)),
      (nil, Self.one, false, .refused(.lacksNewest)),
      (Self.one, Self.one, true, .same(Self.one)),
      // Missing files are found by 'take5 verify'.
      (Self.one, Self.one, false, .same(Self.one)),
      (Self.one, nil, true, .refused(.unmarked(expected: Self.one))),
      (Self.one, Self.other, true, .refused(.another(Self.other, expected: Self.one))),
    ] as [(PublicID?, PublicID?, Bool, BlobFolderMatch)])
  func match(known: PublicID?, found: PublicID?, hasNewest: Bool, expected: BlobFolderMatch) {
    #expect(
      BlobFolderMatch(known: known, found: found, hasNewest: hasNewest, isAdopting: false) == expected)
    // An operator can adopt any folder; an existing marker stays.
    let adopted = BlobFolderMatch(known: known, found: found, hasNewest: hasNewest, isAdopting: true)
    #expect(adopted == (known != nil && known == found ? .same(Self.one) : .adopted(found ?? known)))
  }

  /// Opens the folder as a process does at its start.
  private func open(_ path: String, _ pool: Pool, isAdopting: Bool = false) async throws -> PublicID {
    try await DatabaseBlobs.open(in: .folder(path), isAdopting: isAdopting, pool).ids[0]
  }

  @Test("processes that start at the same time with a new store get the same id, in the folder and in the database")
  func concurrent() async throws {
    try await StoreFixture.with { fixture in
      let folder = try TemporaryFolder()
      let path = "\(folder.path)/blobs"
      let ids = try await withThrowingTaskGroup(of: PublicID.self) { group in
        for _ in 0..<6 { group.addTask { try await self.open(path, fixture.pool) } }
        return try await group.reduce(into: Set<PublicID>()) { $0.insert($1) }
      }
      #expect(ids.count == 1)
      #expect(try await fixture.count("blob_store") == 1)
      #expect(try FolderBlobStore.id(in: path) == ids.first)
    }
  }

  @Test("while a store that does not answer is opened, no transaction is open", arguments: [false, true])
  func slow(isMoving: Bool) async throws {
    try await StoreFixture.with { fixture in
      let folder = try TemporaryFolder()
      let (isAsked, answers) = (OneShot<Void>(), try Gate())
      let base = BlobPlace.folder("\(folder.path)/blobs")
      let slow = { @Sendable in
        isAsked.fulfil(())
        answers.wait()
      }
      let place = BlobPlace<any InspectableBlobStore>(
        id: {
          if !isMoving { slow() }
          return try base.id()
        }, contains: { _ in true },
        open: { id in
          if isMoving { slow() }
          return try base.open(id)
        })
      let pool = fixture.pool
      let opened = Task {
        isMoving
          ? try await DatabaseBlobs.open(in: .folder("\(folder.path)/old"), movingTo: place, pool)
          : try await DatabaseBlobs.open(in: place, pool)
      }
      await isAsked.value
      #expect(try idleTransactions(fixture.url) == 0)
      answers.open()
      let ids = try await opened.value.ids
      #expect(try ids.contains(#require(try FolderBlobStore.id(in: "\(folder.path)/blobs"))))
    }
  }

  @Test("an empty folder, a missing one and another store's are refused, and no file is created in them")
  func refused() async throws {
    try await StoreFixture.with { fixture in
      let id = try await open(fixture.blobs.folderPath, fixture.pool)
      #expect(id == fixture.blobs.id)
      let folder = try TemporaryFolder()
      let (empty, another) = ("\(folder.path)/empty", "\(folder.path)/another")
      await #expect(throws: BlobFolderRefusal.unmarked(expected: id)) { try await open(empty, fixture.pool) }
      #expect(access(empty, F_OK) != 0)
      try Folder.make(empty)
      await #expect(throws: BlobFolderRefusal.unmarked(expected: id)) { try await open(empty, fixture.pool) }
      #expect(try Folder.names(in: empty).isEmpty)
      let stranger = try FolderBlobStore(folder: another).id
      await #expect(throws: BlobFolderRefusal.another(stranger, expected: id)) {
        try await open(another, fixture.pool)
      }
      // An operator can adopt them.
      #expect(try await open(empty, fixture.pool, isAdopting: true) == id)
      #expect(try await open(another, fixture.pool, isAdopting: true) == stranger)
      await #expect(throws: BlobFolderRefusal.self) { try await open(empty, fixture.pool) }
    }
  }

  @Test("a store of an earlier version without an id is accepted with at least one of its newest files")
  func earlier() async throws {
    try await StoreFixture.with { fixture in
      try await fixture.submit("front", "back")
      let path = fixture.blobs.folderPath
      #expect(unlink("\(path)/store-id") == 0)
      let folder = try TemporaryFolder()
      await #expect(throws: BlobFolderRefusal.lacksNewest) { try await open("\(folder.path)/blobs", fixture.pool) }
      #expect(try await fixture.count("blob_store") == 0)
      #expect(unlink(fixture.blobs.location(of: SHA256.digest(of: Array("front".utf8)))) == 0)
      let id = try await open(path, fixture.pool)
      #expect(try FolderBlobStore.id(in: path) == id)
      #expect(try await open(path, fixture.pool) == id)
    }
  }
}

extension FolderBlobStore {
  /// The path of the folder.
  fileprivate var folderPath: String {
    String(location(of: SHA256.digest(of: [])).dropLast(64 + 4))
  }
}
