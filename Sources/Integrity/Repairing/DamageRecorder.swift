package import Blobs
package import Crypto
import Model
package import Postgres
import Store
package import Telemetry

/// Records damaged blobs in the database, and reports each once in the log and the metrics.
package struct DamageRecorder: Sendable {
  let blobs: any InspectableBlobStore
  let log: Logger
  private let metrics: Metrics

  package init(blobs: any InspectableBlobStore, log: Logger, metrics: Metrics) {
    self.blobs = blobs
    self.log = log
    self.metrics = metrics
    for damage in BlobDamage.allCases { count(damage, by: 0) }
  }

  private func count(_ damage: BlobDamage, by count: Double = 1) {
    metrics.count(
      "take5_blobs_damaged_total", "Damaged blobs, by kind of damage.", ["kind": damage.rawValue], by: count)
  }

  /// Reads a blob, and records its damage under the lock of its row, which excludes writers and collectors.
  ///
  /// - Throws: if the blob cannot be checked because the database or the blob store is not available.
  package func check(_ hash: SHA256Digest, _ pool: Pool) async throws {
    let check = BlobCheck(hash: hash, lock: Integrity.statements["lock_blob_shared"], pool: pool)
    let found = try await check.run(reading: { [blobs] evidence -> BlobDamage? in
      // An unreferenced blob is removed. Inline content is served from the row.
      guard !evidence.isUnreferenced else { return nil }
      if case .wrong = evidence.inline { return .corrupt }
      guard evidence.isSource || evidence.inline.isAbsent else { return nil }
      // A failure of the entire disk is not damage of one file.
      try blobs.check()
      return try blobs.damage(of: hash, bytes: evidence.bytes)
    }) { _, damage, session -> (damage: BlobDamage, uses: [BlobUse])? in
      try Damage.note(damage, of: hash, session) ? (damage, try BlobUse.read(hash, session)) : nil
    }
    guard let found = found ?? nil else { return }
    count(found.damage)
    let subjects = Set(found.uses.compactMap { $0.subject?.description ?? $0.quarantine }).sorted()
    log.error(
      "a blob is damaged",
      [
        "blob": hash.hex, "kind": found.damage.rawValue, "location": blobs.location(of: hash),
        "roles": Set(found.uses.map(\.role.rawValue)).sorted().joined(separator: ", "),
        "subjects": subjects.prefix(10).joined(separator: ", "),
      ])
  }
}
