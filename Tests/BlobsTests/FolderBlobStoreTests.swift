import BlobTesting
import Crypto
import Glibc
import Platform
import PostgresTesting
import Testing

@testable import Blobs

@Suite("Folder blob store")
struct FolderBlobStoreTests {
  private let folder: TemporaryFolder
  private var path: String { "\(folder.path)/blobs" }

  init() throws { folder = try TemporaryFolder() }

  @Test("a folder blob store conforms, with and without O_TMPFILE", arguments: [true, false])
  func conformance(unnamed: Bool) throws {
    try BlobStoreConformance(store: try FolderBlobStore(folder: path, allowsUnnamedFiles: unnamed)).check()
    #expect(try Folder.names(in: "\(path)/.staging").isEmpty)
  }

  @Test("the check of writing leaves no file, and fails where no file can be written", arguments: [true, false])
  func checksWriting(unnamed: Bool) throws {
    _ = try FolderBlobStore(folder: path)
    let hasUnnamedFiles = try FolderBlobStore.checkWriting(in: path, allowsUnnamedFiles: unnamed)
    #expect(unnamed || !hasUnnamedFiles)
    #expect(try Folder.names(in: "\(path)/.staging").isEmpty)
    #expect(throws: BlobError.self) {
      try FolderBlobStore.checkWriting(in: "\(folder.path)/none", allowsUnnamedFiles: unnamed)
    }
  }

  @Test("a blob is in the folder of the first two digits of its hash, and visible to another store of the same folder")
  func layout() throws {
    let blob = try FolderBlobStore(folder: path).stage().seal()
    try FolderBlobStore(folder: path).publish(blob)
    let hash = blob.hash.hex
    #expect(access("\(path)/\(hash.prefix(2))/\(hash)", R_OK) == 0)
    #expect(try FolderBlobStore(folder: path).contains(blob.hash))
  }

  @Test("publishing the same blob again replaces a truncated file")
  func replacesTruncated() throws {
    let store = try FolderBlobStore(folder: path)
    var staged = try store.stage()
    try Array<UInt8>([1, 2, 3]).withUnsafeBytes { try staged.append($0) }
    let blob = try staged.seal()
    try store.publish(blob)
    #expect(truncate("\(path)/\(blob.hash.hex.prefix(2))/\(blob.hash.hex)", 1) == 0)
    let again = try store.stage()
    Array<UInt8>([1, 2, 3]).withUnsafeBytes { bytes in
      #expect(pwrite(again.file.descriptor.number, bytes.baseAddress, 3, 0) == 3)
    }
    let intact = try again.seal(writtenElsewhere: true)
    try store.publish(intact)
    #expect(try store.open(intact.hash).size() == 3)
  }

  @Test("staged files of ended processes are removed, and open ones are not")
  func sweeps() throws {
    let store = try FolderBlobStore(folder: path, allowsUnnamedFiles: false)
    _ = try Descriptor(writing: "\(path)/.staging/1-dead", replacing: false)
    var staged = try store.stage()
    try Array<UInt8>([1, 2, 3]).withUnsafeBytes { try staged.append($0) }
    #expect(try store.stagedOrphans().map(\.path) == [".staging/1-dead"])
    let other = try FolderBlobStore(folder: path)
    #expect(try Folder.names(in: "\(path)/.staging").count == 1)
    // A copy of the descriptor, as a media process has it, holds the lock too.
    let copy = fcntl(staged.file.descriptor.number, F_DUPFD_CLOEXEC, 0)
    let blob = try staged.seal()
    try other.removeStagedOrphans()
    try store.publish(blob)
    #expect(try store.open(blob.hash).size() == 3)
    close(copy)
  }

  @Test("blobs and foreign files are listed")
  func listing() throws {
    let store = try FolderBlobStore(folder: path)
    let blob = try store.stage().seal()
    try store.publish(blob)
    let prefix = String(blob.hash.hex.prefix(2))
    _ = try Descriptor(writing: "\(path)/\(prefix)/notes", replacing: false)
    try Folder.make("\(path)/lost+found")
    // The right name in the wrong folder.
    let other = prefix == "00" ? "01" : "00"
    _ = try Descriptor(writing: "\(path)/\(other)/\(blob.hash.hex)", replacing: false)
    var blobs: [SHA256Digest: Int64] = [:]
    var foreign: Set<String> = []
    for shard in 0..<store.shards {
      let listing = try store.listing(ofShard: shard)
      blobs.merge(listing.blobs) { first, _ in first }
      foreign.formUnion(listing.foreign.map(\.path))
    }
    #expect(blobs == [blob.hash: 0])
    #expect(foreign == ["\(prefix)/notes", "lost+found", "\(other)/\(blob.hash.hex)"])
  }
}
