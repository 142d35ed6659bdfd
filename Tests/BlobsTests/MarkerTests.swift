import Blobs
import Crypto
import Glibc
import Model
import Platform
import PostgresTesting
import Testing

@Suite("The marker of a folder of blobs")
struct MarkerTests {
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

  private func isAway(_ body: () throws -> Void) -> Bool {
    do {
      try body()
      return false
    } catch BlobError.away {
      return true
    } catch {
      return false
    }
  }

  @Test("a new folder gets the id that is given, and keeps it whoever opens it with whichever")
  func kept() throws {
    #expect(try FolderBlobStore.id(in: path) == nil)
    let id = PublicID.now()
    #expect(try FolderBlobStore(folder: path, id: id).id == id)
    #expect(try FolderBlobStore(folder: path).id == id)
    #expect(try FolderBlobStore.id(in: path) == id)
    #expect(try Folder.names(in: "\(path)/.staging").isEmpty)
    // It is the store's own, not a stranger's.
    let store = try FolderBlobStore(folder: path)
    #expect(try store.holdings(inPart: 256).foreign.isEmpty)
  }

  @Test("many who open a new folder at once agree on one id")
  func agreed() async throws {
    let path = path
    let ids = try await withThrowingTaskGroup(of: PublicID.self) { group in
      for _ in 0..<8 { group.addTask { try await onThread("test-open") { try FolderBlobStore(folder: path).id } } }
      return try await group.reduce(into: Set<PublicID>()) { $0.insert($1) }
    }
    #expect(ids.count == 1)
  }

  @Test("while its marker is gone, or another's, the store is away: no blob is missing, and none is taken or removed")
  func away() throws {
    let store = try FolderBlobStore(folder: path)
    let kept = try publish("kept", in: store)
    var staged = try store.stage()
    try Array("late".utf8).withUnsafeBytes { try staged.append($0) }
    let late = try staged.seal()
    let unknown = SHA256.digest(of: [1])
    for marker in [nil, "\(PublicID.now())\n"] {
      #expect(rename(path, "\(path)-away") == 0)
      try Folder.make(path)
      if let marker { try Descriptor(writing: "\(path)/store-id", replacing: false).write(Array(marker.utf8)) }
      #expect(isAway { _ = try store.open(kept).number })
      #expect(isAway { _ = try store.open(unknown, bytes: 1).number })
      #expect(isAway { _ = try store.contains(kept) })
      #expect(isAway { _ = try store.remove(kept) })
      #expect(isAway { _ = try store.damage(of: kept, bytes: 4) })
      #expect(isAway { _ = try store.stage().descriptor })
      #expect(isAway { try store.publish(late) })
      #expect(isAway { try store.check() })
      #expect(isAway { _ = try store.holdings(inPart: 0) })
      #expect(try Folder.names(in: path) == (marker == nil ? [] : ["store-id"]))
      try Folder.remove(path)
      #expect(rename("\(path)-away", path) == 0)
    }
    try store.check()
    #expect(throws: BlobError.missing(unknown)) { _ = try store.open(unknown).number }
    #expect(try store.open(kept).size() == 4)
    try store.publish(late)
    #expect(try store.contains(late.hash))
  }
}
