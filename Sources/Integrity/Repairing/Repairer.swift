package import Blobs
import Crypto
import Model
import Platform
package import Postgres
package import Store

/// Repairs the findings of a verification, from data that is intact or from the sources.
///
/// It may run while others write: each repair is a transaction that checks again before it changes anything. Findings
/// of severity `lost` are not repaired.
package struct Repairer: Sendable {
  private let pool: Pool
  private let store: Store
  private let reader: BlobReader
  private let remake: Remake?

  /// - Parameter remake: makes outputs again; nil: damaged outputs stay as they are.
  package init(pool: Pool, store: Store, blobs: any InspectableBlobStore, remake: Remake?) {
    self.pool = pool
    self.store = store
    reader = BlobReader(blobs: blobs)
    self.remake = remake
  }

  /// Repairs findings, and returns the repairs that are not possible. A new verification shows the remaining findings.
  package func repair(_ findings: [Finding]) async throws -> [RepairFailure] {
    var failures: [RepairFailure] = []
    // Rows are corrected first: damaged outputs may be intact after that.
    for finding in findings where finding.severity == .fault { try await correct(finding) }
    failures += findings.filter { $0.code == .uploadFinished }.map {
      RepairFailure(object: $0.object, reason: "a service on this machine does it within half a minute")
    }
    failures += try await makeAgain(findings.filter { $0.severity == .damaged })
    failures += try await removeOrphans(findings.filter { $0.severity == .orphan })
    return failures
  }

  private func correct(_ finding: Finding) async throws {
    switch (finding.code, finding.object) {
    case (.blobCorrupt, .blob(let hash)), (.inlineCorrupt, .blob(let hash)), (.blobSize, .blob(let hash)):
      try await withLockedBlob(hash) { evidence, session in
        if evidence.file.isIntact, case .wrong = evidence.inline {
          try session.execute(Integrity.statements["clear_inline"], .bytes(hash.bytes))
        }
        if let length = evidence.length, length != evidence.bytes {
          try session.execute(Integrity.statements["correct_blob"], .bytes(hash.bytes), .integer(length))
        }
        guard evidence.inline.isIntact, !evidence.isSource, case .wrong = evidence.file else { return nil }
        return try store.collecting.beginRemoval(ofContent: hash, session)
      }
    case (.sourceMissing, .blob(let hash)), (.sourceCorrupt, .blob(let hash)):
      _ = try await store.restoreFile(of: hash, pool)
    case (.assetSize, .asset(let id)):
      // Findings about blobs come first, so that the length of the blob is right by now.
      try await pool.transaction { session in
        _ = try session.execute(Integrity.statements["correct_asset"], .text(id.description))
      }
    case (.setRetiredInUse, .set(let id)):
      try await pool.transaction { session in
        _ = try session.execute(Integrity.statements["reinstate_set"], .text(id.description))
      }
    case (.jobMissing, .run(let id)):
      try await pool.transaction { session in
        _ = try session.execute(Integrity.statements["correct_run"], .text(id.description))
      }
    case (.jobMissing, _):
      for subject in finding.subjects {
        try await pool.transaction { [store] session in try LostJobs.restore(of: subject, store, session) }
      }
    case (_, .row(let kind, let id)):
      let checks = store.rooms.flatMap { $0.checks }
      guard let check = checks.first(where: { $0.kind == kind }) else { return }
      try await pool.transaction { session in try check.repair(id, session) }
    default: break
    }
  }

  private func makeAgain(_ findings: [Finding]) async throws -> [RepairFailure] {
    guard !findings.isEmpty else { return [] }
    var subjects: [Subject] = []
    for finding in findings {
      if finding.code == .blobRowMissing, try await restoreRow(of: finding) { continue }
      for subject in finding.subjects where !subjects.contains(subject) { subjects.append(subject) }
    }
    guard !subjects.isEmpty else { return [] }
    guard let remake else {
      return subjects.map { RepairFailure(object: .init($0), reason: "outputs cannot be made again here") }
    }
    for finding in findings { if case .blob(let hash) = finding.object { try await removeDamagedContent(of: hash) } }
    let outcomes = try await remake(subjects)
    // New outputs may have other hashes: then only the replaced sets refer to the damaged blobs.
    for finding in findings { if case .blob(let hash) = finding.object { try await dropReplaced(containing: hash) } }
    return subjects.compactMap { subject in
      switch outcomes[subject] {
      case .done: nil
      case .failed(let reason): RepairFailure(object: .init(subject), reason: reason)
      case nil: RepairFailure(object: .init(subject), reason: "it was not made again")
      }
    }
  }

  /// Inserts the missing row of a blob whose file is intact; false if the file is not.
  private func restoreRow(of finding: Finding) async throws -> Bool {
    guard case .blob(let hash) = finding.object else { return false }
    let reader = reader
    guard case .intact(let bytes) = try await onThread("repair", { try reader.content(of: hash) }) else { return false }
    try await pool.transaction { session in
      _ = try session.execute(Integrity.statements["add_blob"], .bytes(hash.bytes), .integer(bytes))
    }
    return true
  }

  /// Removes damaged content, because publishing a blob does not replace existing content.
  private func removeDamagedContent(of hash: SHA256Digest) async throws {
    try await withLockedBlob(hash) { evidence, session in
      guard !evidence.isSource else { return nil }
      if case .wrong = evidence.inline {
        try session.execute(Integrity.statements["clear_inline"], .bytes(hash.bytes))
      }
      guard case .wrong = evidence.file else { return nil }
      return try store.collecting.beginRemoval(ofContent: hash, session)
    }
  }

  /// Drops the replaced sets of a damaged blob, also within the grace period.
  private func dropReplaced(containing hash: SHA256Digest) async throws {
    try await withLockedBlob(hash) { evidence, session in
      if evidence.length == nil { _ = try Assets.dropRetired(containing: hash, session) }
      return nil
    }
  }

  private func removeOrphans(_ findings: [Finding]) async throws -> [RepairFailure] {
    var failures: [RepairFailure] = []
    if let until = try await pool.run({ session in try Collecting.currentHold(session) }) {
      let reason = "'take5 gc hold' prevents removal until \(JSON.text(of: until))"
      failures = findings.filter { $0.code == .orphanFile || $0.code == .blobUnreferenced }
        .map { RepairFailure(object: $0.object, reason: reason) }
    }
    for finding in findings {
      switch (finding.code, finding.object) {
      case (.setUnreferenced, .set(let id)):
        try await pool.transaction { session in
          let row = try session.execute(Integrity.statements["set_number"], .text(id.description)).first
          if let number = try row?.get("id", as: Int64.self) { _ = try Assets.dropOrphans([number], session) }
        }
      case (.blobMissing, .blob(let hash)), (.blobCorrupt, .blob(let hash)), (.inlineCorrupt, .blob(let hash)):
        try await dropReplaced(containing: hash)
      case (.blobUnreferenced, .blob(let hash)):
        _ = try await store.collecting.collect([hash], pool)
      case (.orphanFile, .file(let path)):
        guard let hash = SHA256Digest(hex: path.suffix(64)) else { continue }
        _ = try await store.collecting.collectOrphan(hash, bytes: 0, pool)
      case (.foreignFile, let object):
        failures.append(RepairFailure(object: object, reason: "take5 did not create this file and does not remove it"))
      default: break
      }
    }
    while try await store.collecting.collectReleased(pool).examined > 0 {}
    if findings.contains(where: { $0.code == .stagedFile }) {
      let blobs = reader.blobs
      try await onThread("repair") { _ = try blobs.removeStagedOrphans() }
    }
    return failures
  }

  /// Checks a blob again, and repairs it under the lock of its row; removes its content after that if `change` begins the removal.
  private func withLockedBlob(
    _ hash: SHA256Digest, _ change: @Sendable (BlobEvidence, Session) throws -> BlobRemovals?
  ) async throws {
    let removals = try await BlobCheck(hash: hash, lock: Integrity.statements["lock_blob"], pool: pool)
      .run(reading: { [reader] _ in try reader.content(of: hash) }) { row, file, session in
        var evidence = row
        evidence.file = file
        return try change(evidence, session)
      }
    if let removals = removals ?? nil { try await store.collecting.finish(removals, pool) }
  }
}

/// A repair that is not possible.
package struct RepairFailure: Encodable, Sendable, Hashable {
  package let object: FindingObject
  package let reason: String
}
