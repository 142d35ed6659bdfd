import Blobs
import Crypto
import Model
package import Postgres
import Queue
package import Store
import Telemetry

/// Starts runs that make the outputs with damaged blobs again, if their sources are intact.
///
/// A damaged file stays until the transaction that publishes the new outputs replaces it.
package struct DamageRepair: Sendable {
  private let recorder: DamageRecorder
  private let store: Store

  private static let limit = 64

  private var blobs: any InspectableBlobStore { recorder.blobs }

  package init(recorder: DamageRecorder, store: Store) {
    self.recorder = recorder
    self.store = store
  }

  /// The action for a damaged blob.
  private enum Action: Sendable {
    /// Deletes the record: the file is not needed.
    case deleteRecord
    /// Writes the file of a source from the content of its row.
    case restoreFile
    /// Drops the replaced sets, which alone refer to the blob.
    case dropReplaced
    /// Makes the outputs of these subjects again.
    case makeAgain([Subject])
    /// Records the reason why the blob is lost.
    case lost(String)
  }

  /// Handles the damaged blobs that are due. Several workers may run it at the same time.
  package func run(_ pool: Pool) async throws {
    var damaged: [(hash: SHA256Digest, subjects: [Subject])] = []
    for blob in try await pool.run({ session in try Damage.claim(limit: Self.limit, session) }) {
      try Task.checkCancellation()
      guard !blob.isMadeAgain else { continue }
      let found: BlobDamage?
      do {
        found = try await blobs.damageInBackground(of: blob.hash, bytes: blob.bytes)
      } catch BlobError.system(let error) {
        // An error of one blob does not delay the others.
        recorder.log.warning("a damaged blob cannot be checked", ["blob": blob.hash.hex, "error": "\(error)"])
        continue
      }
      guard let damage = found else {
        try await recordIntact(blob.hash, pool)
        continue
      }
      do {
        if let subjects = try await handle(blob.hash, damage, pool) { damaged.append((blob.hash, subjects)) }
      } catch  where SetAside.isOfRow(error) {
        try await pool.transaction { try Damage.setAside(blob.hash, error, $0) }
      } catch let error as BlobError {
        recorder.log.warning("a damaged blob cannot be mended", ["blob": blob.hash.hex, "error": "\(error)"])
      }
    }
    if !damaged.isEmpty { try await makeAgain(damaged, pool) }
  }

  /// Returns the subjects whose outputs are to be made again; nil: nothing is to be made.
  private func handle(_ hash: SHA256Digest, _ damage: BlobDamage, _ pool: Pool) async throws -> [Subject]? {
    switch try await action(for: hash, damage, pool) {
    case .deleteRecord: _ = try await pool.run { session in try Damage.drop(of: hash, session) }
    case .dropReplaced:
      try await pool.transaction { session in _ = try Assets.dropRetired(containing: hash, session) }
    case .restoreFile: _ = try await restoreFile(of: hash, pool)
    case .makeAgain(let subjects):
      guard let source = try await damagedSource(of: subjects, pool) else { return subjects }
      try await recordLost(hash, because: "its source \(source) is damaged too", pool)
    case .lost(let reason): try await recordLost(hash, because: reason, pool)
    }
    return nil
  }

  private func recordIntact(_ hash: SHA256Digest, _ pool: Pool) async throws {
    let isRecorded = try await pool.transaction { session in
      // Damaged content of the row is not needed beside an intact file.
      try session.execute(Integrity.statements["clear_wrong_inline"], .bytes(hash.bytes))
      return try Damage.drop(of: hash, session)
    }
    if isRecorded { logIntact(hash) }
  }

  /// Writes the file of a source from the content of its row; false if the row has not the content.
  private func restoreFile(of hash: SHA256Digest, _ pool: Pool) async throws -> Bool {
    guard try await store.restoreFile(of: hash, pool) else { return false }
    logIntact(hash)
    return true
  }

  private func logIntact(_ hash: SHA256Digest) {
    recorder.log.info("a damaged blob is intact again", ["blob": hash.hex])
  }

  private func action(for hash: SHA256Digest, _ damage: BlobDamage, _ pool: Pool) async throws -> Action {
    try await pool.run { session in
      guard let row = try session.execute(Integrity.statements["blob"], .bytes(hash.bytes)).first else {
        return .deleteRecord
      }
      var evidence = try BlobEvidence(row)
      evidence.file = damage == .missing ? .absent : .wrong(damage.rawValue)
      let finding = evidence.findings(uses: try BlobUse.read(hash, session)).first
      return switch finding?.severity {
      case .fault where evidence.isSource: .restoreFile
      case nil, .fault: .deleteRecord
      case .orphan: .dropReplaced
      case .damaged: .makeAgain(finding?.subjects ?? [])
      case .lost: .lost(evidence.isSource ? "it is a source" : "its sources were not kept")
      }
    }
  }

  /// Checks all sources of the subjects, and returns a damaged one: a damaged source could yield outputs that look
  /// valid.
  private func damagedSource(of subjects: [Subject], _ pool: Pool) async throws -> SHA256Digest? {
    let sources = try await pool.run { session in
      try session.execute(Integrity.statements["sources_of"], .texts(subjects.map(\.id.description))).map { row in
        (hash: SHA256Digest(bytes: try row.get("hash")), bytes: try row.get("bytes", as: Int64.self))
      }
    }
    var damaged: SHA256Digest?
    for case (let hash?, let bytes) in sources {
      guard try await blobs.damageInBackground(of: hash, bytes: bytes) != nil,
        try await !restoreFile(of: hash, pool)
      else { continue }
      try await recorder.check(hash, pool)
      damaged = hash
    }
    return damaged
  }

  private func recordLost(_ hash: SHA256Digest, because reason: String, _ pool: Pool) async throws {
    guard try await pool.run({ session in try Damage.note(lost: hash, because: reason, session) }) else { return }
    recorder.log.error(
      "a damaged blob cannot be made again",
      [
        "blob": hash.hex, "location": blobs.location(of: hash), "reason": reason,
        "remedy": "restore the file from a backup; without a backup, delete the posts and images that refer to it",
      ])
  }

  private func makeAgain(_ damaged: [(hash: SHA256Digest, subjects: [Subject])], _ pool: Pool) async throws {
    var subjects: [Subject] = []
    for subject in damaged.flatMap(\.subjects) where !subjects.contains(subject) { subjects.append(subject) }
    let (runs, unreadable) = try await pool.transaction { [subjects] session in
      var runs: [Subject: PublicID] = [:]
      let (groups, unreadable) = try RemakeGroup.groups(of: subjects, session)
      for group in groups {
        guard let run = try Reprocessing.create(group.request, session) else { continue }
        for subject in group.subjects { runs[subject] = run }
      }
      for (hash, subjects) in damaged {
        if let run = subjects.compactMap({ runs[$0] }).last { try Damage.note(remaking: hash, by: run, session) }
      }
      return (runs, unreadable)
    }
    for (hash, subjects) in damaged {
      if let run = subjects.compactMap({ runs[$0] }).last {
        recorder.log.warning("damaged media are made again", ["blob": hash.hex, "run": run.description])
      } else {
        let reason = subjects.compactMap { unreadable[$0] }.first
        try await recordLost(hash, because: reason ?? "the definition that made it is not known", pool)
      }
    }
  }
}
