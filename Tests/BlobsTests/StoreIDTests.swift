import Blobs
import Crypto
import Glibc
import Model
import Platform
import PostgresTesting
import Testing

@Suite("Store id")
struct StoreIDTests {
  private let folder: TemporaryFolder
  private var path: String { "\(folder.path)/blobs" }

  init() throws { folder = try TemporaryFolder() }

  private func publish(_ text: String, in store: FolderBlobStore) throws -> SHA256Digest {
    var staged = try store.stage()
    try Array(text.utf8).withUnsafeBytes { try staged.append($0) }
    let blob = try staged.seal()
    try store.publish(blob)
    return blob.hash
  }

  private func isUnavailable(_ body: () throws -> Void) -> Bool {
    do {
      try body()
      return false
    } catch BlobError.unavailable {
      return true
    } catch {
      return false
    }
  }

  @Test("a new folder gets the given id, which later openings do not change")
  func permanent() throws {
    #expect(try FolderBlobStore.id(in: path) == nil)
    let id = PublicID.now()
    #expect(try FolderBlobStore(folder: path, id: id).id == id)
    #expect(try FolderBlobStore(folder: path).id == id)
    #expect(try FolderBlobStore.id(in: path) == id)
    #expect(try Folder.names(in: "\(path)/.staging").isEmpty)
    // The store-id file is not a foreign file.
    let store = try FolderBlobStore(folder: path)
    #expect(try store.listing(ofShard: 256).foreign.isEmpty)
  }

  @Test("concurrent openings of a new folder agree on one id")
  func agreed() async throws {
    let path = path
    let ids = try await withThrowingTaskGroup(of: PublicID.self) { group in
      for _ in 0..<8 { group.addTask { try await onThread("test-open") { try FolderBlobStore(folder: path).id } } }
      return try await group.reduce(into: Set<PublicID>()) { $0.insert($1) }
    }
    #expect(ids.count == 1)
  }

  @Test(
    "without its store-id file, or with another store's, the store is unavailable: no blob is missing, published or removed"
  )
  func unavailable() throws {
    let store = try FolderBlobStore(folder: path)
    let stored = try publish("blob", in: store)
    var staged = try store.stage()
    try Array("late".utf8).withUnsafeBytes { try staged.append($0) }
    let late = try staged.seal()
    let unknown = SHA256.digest(of: [1])
    for content in [nil, "\(PublicID.now())\n"] {
      #expect(rename(path, "\(path)-away") == 0)
      try Folder.make(path)
      if let content { try Descriptor(writing: "\(path)/store-id", replacing: false).write(Array(content.utf8)) }
      #expect(isUnavailable { _ = try store.open(stored).number })
      #expect(isUnavailable { _ = try store.open(unknown, bytes: 1).number })
      #expect(isUnavailable { _ = try store.contains(stored) })
      #expect(isUnavailable { _ = try store.remove(stored) })
      #expect(isUnavailable { _ = try store.damage(of: stored, bytes: 4) })
      #expect(isUnavailable { _ = try store.stage().count })
      #expect(isUnavailable { try store.publish(late) })
      #expect(isUnavailable { try store.check() })
      #expect(isUnavailable { _ = try store.listing(ofShard: 0) })
      #expect(try Folder.names(in: path) == (content == nil ? [] : ["store-id"]))
      try Folder.remove(path)
      #expect(rename("\(path)-away", path) == 0)
    }
    try store.check()
    #expect(throws: BlobError.missing(unknown)) { _ = try store.open(unknown).number }
    #expect(try store.open(stored).size() == 4)
    try store.publish(late)
    #expect(try store.contains(late.hash))
  }
}
