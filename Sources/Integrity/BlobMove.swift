package import Blobs
package import Crypto
package import Model
import Platform
package import Postgres
import Store

/// Copies the blobs of a database to another store while others write, and makes that the store of the database.
///
/// It may be interrupted at any point: the next run copies what is not there yet. Others may read and write meanwhile, if they
/// write to both stores.
///
/// What a folder has when a run begins, it reads once and compares with the hashes: its file becomes the only copy. A bucket has compared
/// each object when it received it, so that no object is read. What arrives later has been compared by the one that wrote it.
package struct BlobMove: Sendable {
  private let pool: Pool
  private let source: any InspectableBlobStore
  private let target: any InspectableBlobStore
  private let targetID: PublicID
  private let parallel: Int
  private let leavesDamaged: Bool
  private let progress: @Sendable (Double) -> Void

  /// - Parameters:
  ///   - parallel: the number of blobs that are copied at the same time.
  ///   - leavesDamaged: whether the move ends although blobs cannot be read.
  ///   - progress: receives the progress, 0 to 1.
  package init(
    pool: Pool, from source: any InspectableBlobStore, to target: any InspectableBlobStore, id: PublicID, parallel: Int,
    leavesDamaged: Bool, progress: @escaping @Sendable (Double) -> Void
  ) {
    self.pool = pool
    self.source = source
    self.target = target
    targetID = id
    self.parallel = parallel
    self.leavesDamaged = leavesDamaged
    self.progress = progress
  }

  /// Moves the blobs.
  ///
  /// - Throws: `BlobMoveRefusal`, `BlobError`, `PostgresError`.
  package func run() async throws -> BlobMoveReport {
    let id = targetID
    guard try await pool.transaction({ session in try Moving.begin(to: id, session) }) else {
      throw BlobMoveRefusal.otherMove
    }
    var report = BlobMoveReport()
    var found = Found()
    // Blobs that are inserted meanwhile are in both stores: the second time there is nothing to copy, which shows that.
    while true {
      let before = report.copied
      report.blobs = 0
      report.damaged = []
      for shard in UInt8.min...UInt8.max {
        try await copy(shard, &report, &found)
        progress((Double(shard) + 1) / 256)
      }
      found.isFirstPass = false
      if report.copied == before { break }
    }
    if report.damaged.isEmpty || leavesDamaged {
      report.isFinished = try await pool.transaction { session in try Moving.finish(to: id, session) }
    }
    return report
  }

  /// What the passes of a run have found.
  private struct Found {
    var isFirstPass = true
    /// The lengths of copied blobs whose rows have another one, which no copy changes: they are damaged.
    var otherLengths: [SHA256Digest: Int64] = [:]
    /// The blobs whose files in the target are damaged, and have the right length.
    var damagedCopies: Set<SHA256Digest> = []
  }

  private func copy(_ shard: UInt8, _ report: inout BlobMoveReport, _ found: inout Found) async throws {
    let target = target
    // The rows first: a blob whose row is committed is in the store that is listed after it.
    let files = try await pool.read { session in try Moving.files(ofShard: shard, session) }
    let present = try await onThread("blob-move") { try target.listing(ofShard: Int(shard)) }.blobs
    report.blobs += files.count
    if found.isFirstPass {
      found.damagedCopies.formUnion(try await damagedCopies(of: files.filter { present[$0.key] == $0.value }))
    }
    let (otherLengths, damagedCopies) = (found.otherLengths, found.damagedCopies)
    let different = files.filter { present[$0.key] != $0.value || damagedCopies.contains($0.key) }.keys.sorted()
    let missing = different.filter { otherLengths[$0] == nil || present[$0] != otherLengths[$0] }
    report.damaged += different.filter { otherLengths[$0] != nil && present[$0] == otherLengths[$0] }
    try await missing.forEach(concurrently: parallel) { hash in
      // A damaged file would stay.
      try await copy(hash, replacing: present[hash] != nil)
    } receive: { hash, copied in
      switch copied {
      case .bytes(let bytes):
        report.copied += 1
        report.bytes &+= bytes
        found.damagedCopies.remove(hash)
        if bytes != files[hash] {
          found.otherLengths[hash] = bytes
          report.damaged.append(hash)
        }
      case .damaged: report.damaged.append(hash)
      case .gone: found.damagedCopies.remove(hash)
      }
    }
  }

  /// Returns those blobs whose files in the target are damaged.
  private func damagedCopies(of files: [SHA256Digest: Int64]) async throws -> [SHA256Digest] {
    let target = target
    var damaged: [SHA256Digest] = []
    try await files.forEach(concurrently: parallel) { hash, bytes in
      try await onThread("blob-move") { try target.scrub(hash, bytes: bytes, rate: nil) }
    } receive: { blob, damage in
      if damage != nil { damaged.append(blob.key) }
    }
    return damaged
  }

  private enum Copied: Sendable {
    case bytes(Int64)
    /// It cannot be read.
    case damaged
    /// It was removed meanwhile.
    case gone
  }

  private func copy(_ hash: SHA256Digest, replacing: Bool) async throws -> Copied {
    let (source, target) = (source, target)
    do {
      return try await onThread("blob-move") {
        let file = try source.open(hash)
        let blob = try target.copy(of: file, hash)
        try target.prepare(blob, replacing: replacing)
        try target.publish(blob, replacing: replacing)
        return .bytes(try file.size())
      }
    } catch let error as BlobError where error.damage != nil {
      if let blob = try await RowContent.staged(hash, in: target, pool) {
        return try await onThread("blob-move") {
          try target.prepare(blob, replacing: replacing)
          try target.publish(blob, replacing: replacing)
          return .bytes(blob.bytes)
        }
      }
      return try await pool.read { session in try Moving.isFile(hash, session) } ? .damaged : .gone
    }
  }
}

/// What a move has done.
package struct BlobMoveReport: Sendable, Hashable {
  /// The number of blobs that are files.
  package var blobs = 0
  /// The number of blobs that this run has copied.
  package var copied = 0
  /// Their bytes.
  package var bytes: Int64 = 0
  /// The blobs that cannot be read, or whose rows have another length.
  package var damaged: [SHA256Digest] = []
  /// Whether the database uses the other store now.
  package var isFinished = false
}

/// The reason why a move does not begin.
package enum BlobMoveRefusal: Error, Sendable, Hashable {
  /// The blobs move to another store.
  case otherMove
}
