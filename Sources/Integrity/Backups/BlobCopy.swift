package import Blobs
package import Crypto
import Platform
package import Postgres
import Store

/// Copies the blobs that a dump names from one store to another, and checks the ones that are there already.
package struct BlobCopy: Sendable {
  private let source: any InspectableBlobStore
  private let target: any InspectableBlobStore
  private let parallel: Int
  private let readsPresent: Bool
  private let progress: @Sendable (Double) -> Void

  /// - Parameters:
  ///   - parallel: the number of blobs that are copied or read at the same time.
  ///   - readsPresent: whether the blobs that the target has are read and their hashes compared, or only their lengths.
  ///   - progress: receives the progress, 0 to 1.
  package init(
    from source: any InspectableBlobStore, to target: any InspectableBlobStore, parallel: Int, readsPresent: Bool,
    progress: @escaping @Sendable (Double) -> Void
  ) {
    self.source = source
    self.target = target
    self.parallel = parallel
    self.readsPresent = readsPresent
    self.progress = progress
  }

  /// What a copy has done.
  package struct Report: Sendable, Hashable {
    /// The number of blobs that were copied, and of their bytes.
    package var copied = 0
    package var bytes: Int64 = 0
    /// The blobs that neither store has undamaged.
    package var missing: [SHA256Digest] = []
    /// The number of files of the target that were removed.
    package var removed = 0
  }

  /// Copies the blobs of a dump; each is verified when this returns.
  package func run(_ dumped: DumpedRows) async throws -> Report {
    var report = Report()
    var done: Int64 = 0
    for shard in UInt8.min...UInt8.max {
      try await dumped.blobs(ofShard: shard).forEach(concurrently: parallel) { [self] hash, bytes in
        try await onThread("blob-copy") { try ensure(hash, bytes) }
      } receive: { blob, outcome in
        switch outcome {
        case .present: break
        case .copied:
          report.copied += 1
          report.bytes &+= blob.value
        case .missing: report.missing.append(blob.key)
        }
        done &+= blob.value
        progress(Double(done) / Double(max(dumped.bytes, 1)))
      }
    }
    report.missing.sort()
    return report
  }

  /// Writes those blobs that neither store has undamaged and whose content the rows of the database have.
  package func complete(_ report: inout Report, from pool: Pool) async throws {
    let target = target
    for hash in report.missing {
      guard let blob = try await RowContent.staged(hash, in: target, pool) else { continue }
      try await onThread("blob-copy") {
        try target.prepare(blob, replacing: true)
        try target.publish(blob, replacing: true)
      }
      report.copied += 1
      report.bytes &+= blob.bytes
      report.missing.removeAll { $0 == hash }
    }
  }

  /// Removes the blobs of the target that a dump does not name.
  package func prune(_ dumped: DumpedRows, _ report: inout Report) async throws {
    let target = target
    for shard in UInt8.min...UInt8.max {
      let named = dumped.blobs(ofShard: shard)
      report.removed += try await onThread("blob-copy") {
        let others = try target.listing(ofShard: Int(shard)).blobs.keys.filter { named[$0] == nil }
        for hash in others { try target.remove(hash) }
        return others.count
      }
    }
  }

  private enum Outcome: Sendable {
    case present
    case copied
    case missing
  }

  private func ensure(_ hash: SHA256Digest, _ bytes: Int64) throws(BlobError) -> Outcome {
    guard let damage = try damage(of: hash, bytes) else { return .present }
    guard let blob = try readSource(hash) else { return .missing }
    try target.prepare(blob, replacing: damage != .missing)
    try target.publish(blob, replacing: damage != .missing)
    return .copied
  }

  /// Reads a blob of the source into an unpublished one of the target; nil if the source does not have it undamaged.
  private func readSource(_ hash: SHA256Digest) throws(BlobError) -> SealedBlob? {
    do throws(BlobError) {
      return try target.copy(of: try source.openUncached(hash), hash)
    } catch {
      // A disk that cannot be written to says nothing about the source.
      if case .system(let failure) = error, !["open", "pread"].contains(failure.call) { throw error }
      guard error.damage != nil else { throw error }
      return nil
    }
  }

  private func damage(of hash: SHA256Digest, _ bytes: Int64) throws(BlobError) -> BlobDamage? {
    if readsPresent { return try target.damage(of: hash, bytes: bytes) }
    do throws(BlobError) { _ = try target.open(hash, bytes: bytes) } catch {
      guard let damage = error.damage else { throw error }
      return damage
    }
    return nil
  }
}
