package import Blobs
package import Crypto
package import Logging
package import Metrics
import Model
package import Postgres
package import Store

/// Notes blobs that are damaged in the database, each once, and tells of them in the log and the metrics.
package struct DamageRecorder: Sendable {
  let store: Store
  let blobs: any InspectableBlobStore
  let log: Logger
  private let metrics: Metrics

  package init(store: Store, blobs: any InspectableBlobStore, log: Logger, metrics: Metrics) {
    self.store = store
    self.blobs = blobs
    self.log = log
    self.metrics = metrics
  }

  /// Looks at a blob again under the lock of its row, as writers and collectors hold it, and notes what is wrong with it.
  ///
  /// - Throws: where nobody can know: the database or the blob store is away.
  package func judge(_ hash: SHA256Digest, _ pool: Pool) async throws {
    let found = try await pool.transaction { [store, blobs] session -> (damage: BlobDamage, uses: [BlobUse])? in
      try session.execute(Integrity.statements["share_blob"], .bytes(hash.bytes))
      guard let row = try session.execute(Integrity.statements["blob"], .bytes(hash.bytes)).first else { return nil }
      let evidence = try BlobEvidence(row)
      // What lies in its row is served from there, and what nobody names goes.
      guard evidence.isSource || evidence.inline.isAbsent, !evidence.isUnreferenced else { return nil }
      // A disk that fails as a whole says nothing of one file.
      try blobs.check()
      guard let damage = try blobs.damage(of: hash, bytes: evidence.bytes), try store.note(damage, of: hash, session)
      else { return nil }
      return (damage, try BlobUse.read(hash, session))
    }
    guard let found else { return }
    metrics.count(
      "take5_blobs_damaged_total", "Blobs that were found to be damaged, by how.", ["kind": found.damage.rawValue])
    let subjects = Set(found.uses.compactMap { $0.subject?.description }).sorted()
    log.error(
      "a blob is damaged",
      [
        "blob": hash.hex, "kind": found.damage.rawValue, "location": blobs.location(of: hash),
        "roles": Set(found.uses.map(\.role.rawValue)).sorted().joined(separator: ", "),
        "subjects": subjects.prefix(10).joined(separator: ", "),
      ])
  }
}
