package import Crypto
package import Platform

/// Reads of blobs for clients: the caller waits on no thread, and for a limited time, after which a storage that hangs is one that
/// is away (`.unavailable`).
///
/// A store on another machine has threads of its own, so that it does not delay what is read on this one. An object that several
/// clients want at the same time is fetched once, and the fetching goes on when their time is over: one that asks
/// again finds the copy.
package final class BlobReads: Sendable {
  /// How long callers wait, and how many calls run.
  package struct Limits: Sendable {
    /// The time that a client waits for a blob.
    package var timeout = Duration.seconds(10)
    /// The time that a health check waits.
    package var checkTimeout = Duration.seconds(3)
    /// The time after which a call to the disk hangs, and one to another machine.
    package var disk = Duration.seconds(10)
    package var remote = Duration.seconds(60)
    /// The number of calls that run at a time, of either.
    package var threads = 16

    package init() {}
  }

  package let blobs: any BlobStore
  package let limits: Limits
  private let disk: StorageThreads
  private let remote: StorageThreads
  private let fetches = Locked<[SHA256Digest: StorageCall<OpenFile>]>([:])

  package init(_ blobs: any BlobStore, limits: Limits = Limits()) {
    self.blobs = blobs
    self.limits = limits
    disk = StorageThreads(name: "disk-read", threads: limits.threads, limit: limits.disk)
    remote = StorageThreads(name: "bucket-read", threads: limits.threads, limit: limits.remote)
  }

  /// Opens a blob of this length.
  ///
  /// - Parameter timeout: the time that the caller waits; nil: as long as a client does.
  package func open(
    _ hash: SHA256Digest, bytes: Int64, within timeout: Duration? = nil
  ) async throws(BlobError) -> OpenFile {
    let (blobs, timeout) = (blobs, timeout ?? limits.timeout)
    let local = try await disk.run(within: timeout) { () throws(BlobError) -> OpenFile? in
      guard let file = try blobs.openLocal(hash, bytes: bytes) else { return nil }
      return OpenFile(file)
    }
    if let local { return local }
    let (fetch, isNew) = fetches.withLock { fetches in
      if let running = fetches[hash] { return (running, false) }
      let fetch = StorageCall<OpenFile> { [weak self] in self?.fetches.withLock { $0[hash] = nil } }
      fetches[hash] = fetch
      return (fetch, true)
    }
    if isNew { remote.start(fetch) { () throws(BlobError) in OpenFile(try blobs.open(hash, bytes: bytes)) } }
    return try await fetch.value(within: timeout)
  }

  /// Reads bytes of a file, fewer only at its end.
  package func bytes(
    of file: OpenFile, at offset: Int64, count: Int, within timeout: Duration
  ) async throws(BlobError) -> [UInt8] {
    try await disk.run(within: timeout) { () throws(BlobError) -> [UInt8] in
      do throws(SystemError) {
        return try file.descriptor.bytes(count: count, at: offset)
      } catch {
        throw .system(error)
      }
    }
  }

  /// Reads a range of a file, so that it is in memory, and calls `onEnd` with false if that fails or lasts for too long.
  package func load(_ file: OpenFile, _ range: Range<Int64>, onEnd: @escaping @Sendable (Bool) -> Void) {
    Task {
      do throws(BlobError) {
        try await disk.run(within: limits.timeout) { () throws(BlobError) in
          do throws(SystemError) { try file.descriptor.load(range) } catch { throw .system(error) }
        }
        onEnd(true)
      } catch {
        onEnd(false)
      }
    }
  }

  /// Checks that the store can be written to now, and returns its free space.
  package func check() async throws(BlobError) -> Int64? {
    let blobs = blobs
    let free = try await disk.run(within: limits.checkTimeout) { () throws(BlobError) -> Int64? in
      try blobs.check()
      return try blobs.freeBytes()
    }
    try await remote.run(within: limits.checkTimeout) { () throws(BlobError) in try blobs.checkRemote() }
    return free
  }

  /// The free space; nil if there is no known limit.
  package func freeBytes() async throws(BlobError) -> Int64? {
    let blobs = blobs
    return try await disk.run(within: limits.checkTimeout) { () throws(BlobError) in try blobs.freeBytes() }
  }

  /// Returns a URL at which anybody reads a blob for a time; nil if the store has none.
  package func url(
    of hash: SHA256Digest, fields: BlobFields, seconds: Int
  ) async throws(BlobError) -> String? {
    let blobs = blobs
    return try await remote.run(within: limits.timeout) { () throws(BlobError) in
      try blobs.url(of: hash, fields: fields, seconds: seconds)
    }
  }
}
