package import Blobs
import Crypto
import Model
import Platform
package import Postgres
package import Store

/// Puts right what verification found, as far as it can be told from what is there, or made again from sources.
///
/// It may be done while others write: each repair is a transaction that looks again before it changes anything. What is lost
/// is not touched.
package struct Repairer: Sendable {
  private let pool: Pool
  private let store: Store
  private let reader: BlobReader
  private let remake: Remake?

  /// - Parameter remake: nil: nothing is made again, and nothing is taken away for it.
  package init(pool: Pool, store: Store, blobs: any InspectableBlobStore, remake: Remake?) {
    self.pool = pool
    self.store = store
    reader = BlobReader(blobs: blobs)
    self.remake = remake
  }

  /// Repairs what findings tell of; what could not be repaired, and why. Verification tells afterwards what remains.
  package func repair(_ findings: [Finding]) async throws -> [RepairFailure] {
    var failures: [RepairFailure] = []
    // What is damaged comes last: a row that was put right may have been all that was wrong.
    for finding in findings where finding.severity == .fault { try await correct(finding) }
    failures += try await makeAgain(findings.filter { $0.severity == .damaged })
    failures += try await removeLitter(findings.filter { $0.severity == .litter })
    return failures
  }

  private func correct(_ finding: Finding) async throws {
    switch (finding.code, finding.object) {
    case (.blobCorrupt, .blob(let hash)), (.inlineCorrupt, .blob(let hash)), (.blobSize, .blob(let hash)):
      try await judge(hash) { evidence, session in
        if evidence.file.isWhole, case .wrong = evidence.inline {
          try session.execute(Integrity.statements["clear_inline"], .bytes(hash.bytes))
        }
        if evidence.inline.isWhole, !evidence.isSource, case .wrong = evidence.file {
          try reader.blobs.remove(hash)
        }
        if let length = evidence.length, length != evidence.bytes {
          try session.execute(Integrity.statements["correct_blob"], .bytes(hash.bytes), .integer(length))
        }
      }
    case (.assetSize, .asset(let id)):
      // Only once the blob's own length is certain, which is looked at before.
      try await pool.run { session in
        _ = try session.execute(Integrity.statements["correct_asset"], .text(id.description))
      }
    case (.setRetiredInUse, .set(let id)):
      try await pool.run { session in
        _ = try session.execute(Integrity.statements["reinstate_set"], .text(id.description))
      }
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
      return subjects.map { RepairFailure(object: .init($0), reason: "nothing is made again here") }
    }
    for finding in findings { if case .blob(let hash) = finding.object { try await takeAway(hash) } }
    let outcomes = try await remake(subjects)
    // What was made anew may have other bytes: then those that are damaged are only the replaced set's.
    for finding in findings { if case .blob(let hash) = finding.object { try await dropReplaced(naming: hash) } }
    return subjects.compactMap { subject in
      switch outcomes[subject] {
      case .done: nil
      case .failed(let reason): RepairFailure(object: .init(subject), reason: reason)
      case nil: RepairFailure(object: .init(subject), reason: "it was not made again")
      }
    }
  }

  /// A row that is missing can be written anew where its bytes are there; false if they are not.
  private func restoreRow(of finding: Finding) async throws -> Bool {
    guard case .blob(let hash) = finding.object else { return false }
    let reader = reader
    guard case .whole(let bytes) = try await onThread("repair", { try reader.content(of: hash) }) else { return false }
    try await pool.run { session in
      _ = try session.execute(Integrity.statements["add_blob"], .bytes(hash.bytes), .integer(bytes))
    }
    return true
  }

  /// Takes damaged bytes out of the way of those that are to come: who publishes the same blob leaves what is there as it is.
  private func takeAway(_ hash: SHA256Digest) async throws {
    try await judge(hash) { evidence, session in
      guard !evidence.isSource else { return }
      if case .wrong = evidence.inline {
        try session.execute(Integrity.statements["clear_inline"], .bytes(hash.bytes))
      }
      if case .wrong = evidence.file { try reader.blobs.remove(hash) }
    }
  }

  /// Nobody is served by a replaced set whose bytes are damaged.
  private func dropReplaced(naming hash: SHA256Digest) async throws {
    try await judge(hash) { [store] evidence, session in
      if evidence.length == nil { _ = try store.dropRetired(naming: hash, session) }
    }
  }

  private func removeLitter(_ findings: [Finding]) async throws -> [RepairFailure] {
    var failures: [RepairFailure] = []
    if let until = try await pool.run({ [store] session in try store.collectingHold(session) }) {
      let reason = "nothing is removed until \(JSON.text(of: until)): 'take5 gc hold' was said"
      failures = findings.filter { $0.code == .orphanFile || $0.code == .blobUnreferenced }
        .map { RepairFailure(object: $0.object, reason: reason) }
    }
    for finding in findings {
      switch (finding.code, finding.object) {
      case (.setUnreferenced, .set(let id)):
        try await pool.transaction { [store] session in
          let row = try session.execute(Integrity.statements["set_number"], .text(id.description)).first
          if let number = try row?.get("id", as: Int64.self) { _ = try store.dropOrphans([number], session) }
        }
      case (.blobMissing, .blob(let hash)), (.blobCorrupt, .blob(let hash)), (.inlineCorrupt, .blob(let hash)):
        try await dropReplaced(naming: hash)
      case (.blobUnreferenced, .blob(let hash)):
        try await pool.transaction { [store] session in _ = try store.collect([hash], session) }
      case (.orphanFile, .file(let path)):
        guard let hash = SHA256Digest(hex: path.suffix(64)) else { continue }
        _ = try await pool.transaction { [store] session in try store.collectOrphan(hash, bytes: 0, session) }
      case (.foreignFile, let object):
        failures.append(RepairFailure(object: object, reason: "take5 did not put it there, and leaves it"))
      default: break
      }
    }
    while try await pool.transaction({ [store] in try store.collectReleased($0) }).examined > 0 {}
    if findings.contains(where: { $0.code == .stagedFile }) {
      let blobs = reader.blobs
      try await onThread("repair") { _ = try blobs.removeLeftovers() }
    }
    return failures
  }

  /// Looks at a blob again under its lock, and changes what is to be changed before it is let go.
  private func judge(_ hash: SHA256Digest, _ change: @Sendable (BlobEvidence, Session) throws -> Void) async throws {
    try await pool.transaction { [reader] session in
      try session.execute(Integrity.statements["lock_blob"], .bytes(hash.bytes))
      if let evidence = try BlobEvidence.read(hash, reader, session) { try change(evidence, session) }
    }
  }
}
