import BlobTesting
import Crypto
import Glibc
import Platform
import PostgresTesting
import Testing
import WaitTesting

@testable import Blobs

@Suite("Reads of blobs for clients", .timeLimit(.minutes(60)))
struct BlobReadsTests {
  private static let content = Array("a moment".utf8)

  private let folder: TemporaryFolder
  private let store: FolderBlobStore
  private let hash: SHA256Digest

  init() throws {
    folder = try TemporaryFolder()
    store = try FolderBlobStore(folder: "\(folder.path)/blobs")
    var staged = try store.stage()
    try Self.content.withUnsafeBytes { try staged.append($0) }
    let blob = try staged.seal()
    try store.publish(blob)
    hash = blob.hash
  }

  private static func limits(threads: Int, checking: Duration = .seconds(600)) -> BlobReads.Limits {
    var limits = BlobReads.Limits()
    limits.threads = threads
    limits.checkTimeout = checking
    return limits
  }

  private func isUnavailable(_ reads: BlobReads, within timeout: Duration = .milliseconds(20)) async -> Bool {
    do throws(BlobError) {
      _ = try await reads.open(hash, bytes: Int64(Self.content.count), within: timeout)
      return false
    } catch {
      guard case .unavailable = error else { return false }
      return true
    }
  }

  @Test("a storage that hangs is unavailable in time and holds a few threads; when it answers, blobs are read again")
  func hangs() async throws {
    let hanging = HangingBlobStore(store)
    let free = try await BlobReads(hanging, limits: Self.limits(threads: 3)).check()
    #expect(free != nil)
    let reads = BlobReads(hanging, limits: Self.limits(threads: 3, checking: .milliseconds(20)))
    hanging.hang()
    for _ in 0..<10 { #expect(await isUnavailable(reads)) }
    await #expect(throws: BlobError.self) { try await reads.check() }
    #expect(hanging.hanging <= 3)
    hanging.answer()
    // Until the calls that hung have ended, further ones are refused.
    var opened: OpenFile?
    try await until {
      opened = try? await reads.open(hash, bytes: Int64(Self.content.count), within: .seconds(600))
      return opened != nil
    }
    let file = try #require(opened)
    #expect(try file.descriptor.contents() == Self.content)
    let rest = try await reads.bytes(of: file, at: 2, count: 99, within: .seconds(600))
    #expect(rest == Array(Self.content[2...]))
    // What no task waited for any more was not read.
    #expect(hanging.openings <= 4)
  }

  @Test("what several want of another machine is fetched once, and what is on this one does not wait for it")
  func shared() async throws {
    let hanging = HangingBlobStore(store, isRemote: true)
    let reads = BlobReads(hanging, limits: Self.limits(threads: 1))
    hanging.hang()
    let (hash, count) = (hash, Int64(Self.content.count))
    let first = Task { try await reads.open(hash, bytes: count, within: .seconds(600)) }
    _ = await hanging.hangs.value
    // It waits for the same.
    #expect(await isUnavailable(reads))
    let free = try await reads.freeBytes()
    #expect(free != nil)
    hanging.answer()
    let file = try await first.value
    #expect(try file.descriptor.contents() == Self.content)
    #expect(hanging.openings == 1)
    // Later it is fetched again: this store keeps no copy.
    let again = try await reads.open(hash, bytes: count, within: .seconds(600))
    #expect(try again.descriptor.contents() == Self.content)
    #expect(hanging.openings == 2)
  }

  @Test("a FIFO, a socket, a folder and a link in the place of a blob are damage, and are replaced", arguments: 0..<4)
  func otherFiles(kind: Int) async throws {
    let path = store.location(of: hash)
    try #require(unlink(path) == 0)
    switch kind {
    case 0: try #require(mkfifo(path, 0o600) == 0)
    case 1: try #require(mknod(path, S_IFSOCK | 0o600, 0) == 0)
    case 2: try #require(mkdir(path, 0o700) == 0)
    default: try #require(symlink("/dev/zero", path) == 0)
    }
    let (store, hash, count) = (store, hash, Int64(Self.content.count))
    #expect(throws: BlobError.self) { _ = try store.open(hash, bytes: count).number }
    #expect(try store.damage(of: hash, bytes: count) == .corrupt)
    guard kind != 2 else { return }
    var staged = try store.stage()
    try Self.content.withUnsafeBytes { try staged.append($0) }
    try store.publish(try staged.seal())
    #expect(try store.open(hash, bytes: count).contents() == Self.content)
  }
}
