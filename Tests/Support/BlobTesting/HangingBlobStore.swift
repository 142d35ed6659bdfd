package import Blobs
package import Crypto
package import Model
package import Platform

/// A blob store that hangs when a test wants it, as a disk or a bucket that does not answer.
package final class HangingBlobStore: LocalBlobStore {
  private let base: any BlobStore
  package let isRemote: Bool
  /// What calls wait for; nil: the store answers.
  private let gate = Locked<Channel<Int>?>(nil)
  private let counts = Locked<(openings: Int, hanging: Int)>((0, 0))
  /// Set when the first call hangs.
  package let hangs = OneShot<Bool>()

  /// - Parameter isRemote: whether nothing is on this machine.
  package init(_ base: any BlobStore, isRemote: Bool = false) {
    self.base = base
    self.isRemote = isRemote
  }

  /// The number of blobs that were opened, or will be.
  package var openings: Int { counts.withLock(\.openings) }
  /// The number of calls that hang.
  package var hanging: Int { counts.withLock(\.hanging) }

  package func hang() { gate.withLock { $0 = Channel(capacity: 1) } }

  package func answer() { gate.withLock { $0.take() }?.close() }

  private func pass() {
    guard let gate = gate.withLock(\.self) else { return }
    counts.withLock { $0.hanging += 1 }
    hangs.fulfil(true)
    _ = gate.take()
    counts.withLock { $0.hanging -= 1 }
  }

  package var ids: [PublicID] { base.ids }

  package func stage() throws(BlobError) -> StagedBlob {
    pass()
    return try base.stage()
  }

  package func open(_ hash: SHA256Digest) throws(BlobError) -> Descriptor {
    counts.withLock { $0.openings += 1 }
    pass()
    return try base.open(hash)
  }

  package func openLocal(_ hash: SHA256Digest, bytes: Int64) throws(BlobError) -> Descriptor? {
    isRemote ? nil : try open(hash, bytes: bytes)
  }

  package func prepare(_ blob: SealedBlob, replacing: Bool) throws(BlobError) {
    try base.prepare(blob, replacing: replacing)
  }

  package func publish(_ blob: SealedBlob, replacing: Bool) throws(BlobError) {
    try base.publish(blob, replacing: replacing)
  }

  package func remove(_ hash: SHA256Digest) throws(BlobError) -> Bool { try base.remove(hash) }
  package func uploads() throws(BlobError) -> UploadFolder { try base.uploads() }
  package func freeBytes() throws(BlobError) -> Int64? { try base.freeBytes() }
  package func contains(_ hash: SHA256Digest) throws(BlobError) -> Bool { try base.contains(hash) }
}
