import Crypto
import FoundationEssentials
import Glibc
import Model
import Platform
import PostgresTesting
import Testing

@testable import Blobs

@Suite("Copies of objects on a machine", .timeLimit(.minutes(60)))
struct CopyTests {
  /// Runs a test with the store of a bucket that has one object, and the number of requests for it.
  private static func with(
    _ body: @escaping @Sendable (ObjectBlobStore, _ another: ObjectBlobStore, _ requests: Shared<Int>) throws -> Void
  ) async throws {
    try await OneObject.with { object in
      try await onThread("client") {
        let folder = try TemporaryFolder()
        try body(try object.store(in: folder), try object.store(in: folder), object.requests)
      }
    }
  }

  private static func read(_ store: ObjectBlobStore) throws -> [UInt8] {
    try store.open(OneObject.hash, bytes: OneObject.length).contents()
  }

  @Test("a copy that is to be verified is compared with its hash: a damaged one is dropped and fetched again")
  func verified() async throws {
    try await Self.with { store, _, requests in
      let (hash, length) = (OneObject.hash, OneObject.length)
      for expected in [1, 1] {
        #expect(try store.openVerified(hash, bytes: length).contents() == OneObject.content)
        #expect(requests.withLock(\.self) == expected)
      }
      for (index, short) in [nil, 10].enumerated() {
        try OneObject.damageCopy(of: store, to: short)
        #expect(try store.openVerified(hash, bytes: length).contents() == OneObject.content)
        // What is read next is a copy that is right.
        #expect(try Self.read(store) == OneObject.content)
        #expect(requests.withLock(\.self) == index + 2)
      }
    }
  }

  @Test(
    "a folder of copies that has gone is made again by whatever needs it first: the free space, an upload, a submission, a reading"
  )
  func gone() async throws {
    try await Self.with { store, _, _ in
      for need in [
        {
          let free = try store.freeBytes()
          #expect(free ?? 0 > 0)
        },
        {
          let upload = UploadRecord(
            user: "ada", length: 5, metadata: nil, createdAt: .now, expiresAt: .now.addingTimeInterval(60))
          try store.uploads().create(upload)
        }, { _ = try store.stage() }, { _ = try Self.read(store) },
      ] as [() throws -> Void] {
        try OneObject.removeCopies(of: store)
        try need()
      }
    }
  }

  @Test("a damaged copy is no damage of the blob, and is dropped when the blob is checked")
  func checked() async throws {
    try await Self.with { store, _, _ in
      for length in [nil, 10] {
        _ = try store.open(OneObject.hash).number
        try OneObject.damageCopy(of: store, to: length)
        #expect(try store.damage(of: OneObject.hash, bytes: OneObject.length) == nil)
        #expect(try Self.read(store) == OneObject.content)
      }
    }
  }

  @Test("a copy that this process has not compared lately, or that has another length, is compared when it is opened")
  func opened() async throws {
    try await Self.with { store, another, requests in
      let found = [try Self.read(store), try Self.read(another)]
      #expect(found == [OneObject.content, OneObject.content])
      #expect(requests.withLock(\.self) == 1)
    }
    try await Self.with { store, another, requests in
      #expect(try Self.read(store) == OneObject.content)
      try OneObject.damageCopy(of: store)
      let hasCopy = try another.openLocal(OneObject.hash, bytes: OneObject.length) != nil
      #expect(!hasCopy)
      #expect(try Self.read(another) == OneObject.content)
      for length in [10, 0] {
        try OneObject.damageCopy(of: store, to: length)
        #expect(try Self.read(another) == OneObject.content)
      }
      #expect(requests.withLock(\.self) == 4)
      // Nothing is fetched to check what was served.
      let rate = ReadRate(bytesPerSecond: 1 << 30, until: CancellationFlag())
      let damage = try another.scrub(OneObject.hash, bytes: OneObject.length, rate: rate)
      #expect(damage == nil)
      #expect(requests.withLock(\.self) == 4)
    }
  }

  @Test("a folder of copies that has gone, or its store-id alone, is made again while the store is used")
  func removedFolder() async throws {
    try await Self.with { store, another, requests in
      let path = store.cache.store.location(of: OneObject.hash)
      let folder = try #require(Folder.parent(of: path).flatMap { Folder.parent(of: $0) })
      var expected = 1
      #expect(try Self.read(store) == OneObject.content)
      for removal in ["", "/store-id", "/\(OneObject.hash.hex.prefix(2))"] {
        if removal == "/store-id" {
          #expect(unlink(folder + removal) == 0)
        } else {
          try Folder.remove(folder + removal)
          expected += 1
        }
        #expect(try Self.read(store) == OneObject.content, "\(removal)")
        #expect(try Self.read(another) == OneObject.content, "\(removal)")
        try store.check()
        try another.check()
        let record = UploadRecord(user: "ada", length: 1, metadata: nil, createdAt: .now, expiresAt: .now)
        try store.uploads().create(record)
        let stored = try another.uploads().record(record.id)
        #expect(stored?.user == "ada")
        #expect(requests.withLock(\.self) == expected, "\(removal)")
      }
    }
  }
}
