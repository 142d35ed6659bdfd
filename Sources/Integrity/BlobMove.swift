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
    var otherLengths: [SHA256Digest: Int64] = [:]
    // Blobs that are inserted meanwhile are in both stores: the second time there is nothing to copy, which shows that.
    while true {
      let before = report.copied
      report.blobs = 0
      report.damaged = []
      for shard in UInt8.min...UInt8.max {
        try await copy(shard, &report, &otherLengths)
        progress((Double(shard) + 1) / 256)
      }
      if report.copied == before { break }
    }
    if report.damaged.isEmpty || leavesDamaged {
      report.isFinished = try await pool.transaction { session in try Moving.finish(to: id, session) }
    }
    return report
  }

  /// - Parameter otherLengths: the lengths of copied blobs whose rows have another one, which no copy changes: they are damaged.
  private func copy(
    _ shard: UInt8, _ report: inout BlobMoveReport, _ otherLengths: inout [SHA256Digest: Int64]
  ) async throws {
    let target = target
    // The rows first: a blob whose row is committed is in the store that is listed after it.
    let files = try await pool.read { session in try Moving.files(ofShard: shard, session) }
    let present = try await onThread("blob-move") { try target.listing(ofShard: Int(shard)) }.blobs
    report.blobs += files.count
    let different = files.filter { present[$0.key] != $0.value }.keys.sorted()
    let missing = different.filter { otherLengths[$0] == nil || present[$0] != otherLengths[$0] }
    report.damaged += different.filter { otherLengths[$0] != nil && present[$0] == otherLengths[$0] }
    try await missing.forEach(concurrently: parallel) { hash in
      // A file of another length would stay.
      try await copy(hash, replacing: present[hash] != nil)
    } receive: { hash, copied in
      switch copied {
      case .bytes(let bytes):
        report.copied += 1
        report.bytes &+= bytes
        if bytes != files[hash] {
          otherLengths[hash] = bytes
          report.damaged.append(hash)
        }
      case .damaged: report.damaged.append(hash)
      case .gone: break
      }
    }
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
        try target.prepare(blob)
        try target.publish(blob, replacing: replacing)
        return .bytes(try file.size())
      }
    } catch let error as BlobError where error.damage != nil {
      if let blob = try await RowContent.staged(hash, in: target, pool) {
        return try await onThread("blob-move") {
          try target.prepare(blob)
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
