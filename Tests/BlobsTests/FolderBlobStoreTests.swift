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

  @Test("What dead processes staged is swept after a day, not before")
  func sweeps() throws {
    _ = try FolderBlobStore(folder: path)
    for (name, age) in [("old", 25 * 3600), ("young", 3600)] {
      let file = "\(path)/.staging/\(name)"
      _ = try Descriptor(writing: file, replacing: false)
      var times = [timeval(tv_sec: time(nil) - age, tv_usec: 0), timeval(tv_sec: time(nil) - age, tv_usec: 0)]
      #expect(utimes(file, &times) == 0)
    }
    _ = try FolderBlobStore(folder: path)
    #expect(try Folder.names(in: "\(path)/.staging") == ["young"])
  }
}
