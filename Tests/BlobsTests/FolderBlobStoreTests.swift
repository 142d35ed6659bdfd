import Crypto
import Glibc
import Platform
import PostgresTesting
import Testing

@testable import Blobs

@Suite("Blobs in a folder")
struct FolderBlobStoreTests {
  private let folder: TemporaryFolder
  private var path: String { "\(folder.path)/blobs" }

  init() throws { folder = try TemporaryFolder() }

  @Test("It keeps the contract, with and without files without names", arguments: [true, false])
  func conformance(unnamed: Bool) throws {
    try BlobStoreConformance(store: try FolderBlobStore(folder: path, allowsUnnamedFiles: unnamed)).check()
    #expect(try Folder.names(in: "\(path)/.staging").isEmpty)
  }

  @Test("A blob lies under the first two digits of its hash, and is there for another store of that folder")
  func layout() throws {
    let blob = try FolderBlobStore(folder: path).stage().seal()
    try FolderBlobStore(folder: path).publish(blob)
    let hash = blob.hash.hex
    #expect(access("\(path)/\(hash.prefix(2))/\(hash)", R_OK) == 0)
    #expect(try FolderBlobStore(folder: path).contains(blob.hash))
  }

  @Test("A file that was cut short is made whole by the next who publishes the same")
  func heals() throws {
    let store = try FolderBlobStore(folder: path)
    var staged = try store.stage()
    try Array<UInt8>([1, 2, 3]).withUnsafeBytes { try staged.append($0) }
    let blob = try staged.seal()
    try store.publish(blob)
    #expect(truncate("\(path)/\(blob.hash.hex.prefix(2))/\(blob.hash.hex)", 1) == 0)
    let again = try store.stage()
    Array<UInt8>([1, 2, 3]).withUnsafeBytes { bytes in
      #expect(pwrite(again.descriptor, bytes.baseAddress, 3, 0) == 3)
    }
    let whole = try again.seal(writtenElsewhere: true)
    try store.publish(whole)
    #expect(try store.open(whole.hash).size() == 3)
  }

  @Test("What dead processes staged is swept at once; what somebody has open is not, whoever looks")
  func sweeps() throws {
    let store = try FolderBlobStore(folder: path, allowsUnnamedFiles: false)
    _ = try Descriptor(writing: "\(path)/.staging/1-dead", replacing: false)
    var staged = try store.stage()
    try Array<UInt8>([1, 2, 3]).withUnsafeBytes { try staged.append($0) }
    #expect(try store.leftovers().map(\.path) == [".staging/1-dead"])
    let other = try FolderBlobStore(folder: path)
    #expect(try Folder.names(in: "\(path)/.staging").count == 1)
    // A copy of the descriptor, as a media process has it, keeps it too.
    let copy = fcntl(staged.descriptor, F_DUPFD_CLOEXEC, 0)
    let blob = try staged.seal()
    try other.removeLeftovers()
    try store.publish(blob)
    #expect(try store.open(blob.hash).size() == 3)
    close(copy)
  }

  @Test("It tells what it holds, and what lies there that it did not make")
  func holdings() throws {
    let store = try FolderBlobStore(folder: path)
    let blob = try store.stage().seal()
    try store.publish(blob)
    let prefix = String(blob.hash.hex.prefix(2))
    _ = try Descriptor(writing: "\(path)/\(prefix)/notes", replacing: false)
    try Folder.make("\(path)/lost+found")
    // The right name in another's folder.
    let other = prefix == "00" ? "01" : "00"
    _ = try Descriptor(writing: "\(path)/\(other)/\(blob.hash.hex)", replacing: false)
    var blobs: [SHA256Digest: Int64] = [:]
    var foreign: Set<String> = []
    for part in 0..<store.parts {
      let holdings = try store.holdings(inPart: part)
      blobs.merge(holdings.blobs) { first, _ in first }
      foreign.formUnion(holdings.foreign.map(\.path))
    }
    #expect(blobs == [blob.hash: 0])
    #expect(foreign == ["\(prefix)/notes", "lost+found", "\(other)/\(blob.hash.hex)"])
  }
}
