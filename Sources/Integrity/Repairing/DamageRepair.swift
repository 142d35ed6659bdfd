import Blobs
import Crypto
import Logging
import Model
package import Postgres
import Queue
import Store

/// Has damaged blobs made again from their sources, where those are whole, as items of a run that the workers carry out.
///
/// A damaged file stays where it is until the right bytes take its place, in the transaction that publishes them.
package struct DamageRepair: Sendable {
  private let recorder: DamageRecorder

  private static let limit = 64

  private var store: Store { recorder.store }
  private var blobs: any InspectableBlobStore { recorder.blobs }

  package init(recorder: DamageRecorder) { self.recorder = recorder }

  /// What becomes of a damaged blob.
  private enum Treatment: Sendable {
    /// Nobody needs its file.
    case forget
    /// Only media that were replaced have it.
    case dropReplaced
    /// The media of these are made again.
    case makeAgain([Subject])
    case lost(String)
  }

  /// Looks after those whose time has come; others may do so at once.
  package func run(_ pool: Pool) async throws {
    var wanted: [(hash: SHA256Digest, subjects: [Subject])] = []
    for blob in try await pool.run({ session in try store.takeDamaged(limit: Self.limit, session) }) {
      try Task.checkCancellation()
      guard !blob.isMadeAgain else { continue }
      let found: BlobDamage?
      do {
        found = try await blobs.damageInBackground(of: blob.hash, bytes: blob.bytes)
      } catch BlobError.system(let error) {
        // One that cannot be read now holds up none of the others.
        recorder.log.warning("a damaged blob cannot be looked at", ["blob": blob.hash.hex, "error": "\(error)"])
        continue
      }
      guard let damage = found else {
        try await settle(blob.hash, pool)
        continue
      }
      switch try await treatment(of: blob.hash, damage, pool) {
      case .forget: _ = try await pool.run { session in try store.dropDamage(of: blob.hash, session) }
      case .dropReplaced:
        try await pool.transaction { session in _ = try store.dropRetired(naming: blob.hash, session) }
      case .makeAgain(let subjects):
        if let source = try await damagedSource(of: subjects, pool) {
          try await giveUp(blob.hash, because: "its source \(source) is damaged too", pool)
        } else {
          wanted.append((blob.hash, subjects))
        }
      case .lost(let reason): try await giveUp(blob.hash, because: reason, pool)
      }
    }
    if !wanted.isEmpty { try await makeAgain(wanted, pool) }
  }

  private func settle(_ hash: SHA256Digest, _ pool: Pool) async throws {
    if try await pool.run({ session in try store.dropDamage(of: hash, session) }) {
      recorder.log.info("a damaged blob is whole again", ["blob": hash.hex])
    }
  }

  private func treatment(of hash: SHA256Digest, _ damage: BlobDamage, _ pool: Pool) async throws -> Treatment {
    try await pool.run { session in
      guard let row = try session.execute(Integrity.statements["blob"], .bytes(hash.bytes)).first else {
        return .forget
      }
      var evidence = try BlobEvidence(row)
      evidence.file = damage == .missing ? .absent : .wrong(damage.rawValue)
      let finding = evidence.findings(uses: try BlobUse.read(hash, session)).first
      return switch finding?.severity {
      case nil, .fault: .forget
      case .litter: .dropReplaced
      case .damaged: .makeAgain(finding?.subjects ?? [])
      case .lost: .lost(evidence.isSource ? "it is a file as it was submitted" : "its sources were not kept")
      }
    }
  }

  /// What is made of a damaged source may look right, and is not: every source is read before anything is made of it.
  private func damagedSource(of subjects: [Subject], _ pool: Pool) async throws -> SHA256Digest? {
    let sources = try await pool.run { session in
      try session.execute(Integrity.statements["sources_of"], .texts(subjects.map(\.id.description))).map { row in
        (hash: SHA256Digest(bytes: try row.get("hash")), bytes: try row.get("bytes", as: Int64.self))
      }
    }
    var damaged: SHA256Digest?
    for case (let hash?, let bytes) in sources {
      guard try await blobs.damageInBackground(of: hash, bytes: bytes) != nil else { continue }
      try await recorder.judge(hash, pool)
      damaged = hash
    }
    return damaged
  }

  private func giveUp(_ hash: SHA256Digest, because reason: String, _ pool: Pool) async throws {
    guard try await pool.run({ session in try store.note(lost: hash, because: reason, session) }) else { return }
    recorder.log.error(
      "a damaged blob cannot be made again",
      [
        "blob": hash.hex, "location": blobs.location(of: hash), "reason": reason,
        "remedy": "bring the file back from a backup; without one, delete what refers to it",
      ])
  }

  private func makeAgain(_ wanted: [(hash: SHA256Digest, subjects: [Subject])], _ pool: Pool) async throws {
    var subjects: [Subject] = []
    for subject in wanted.flatMap(\.subjects) where !subjects.contains(subject) { subjects.append(subject) }
    let (runs, unreadable) = try await pool.transaction { [subjects] session in
      var runs: [Subject: PublicID] = [:]
      let (groups, unreadable) = try RemakeGroup.groups(of: subjects, session)
      for group in groups {
        guard let run = try store.beginRun(group.request(isLocal: false), session) else { continue }
        for subject in group.subjects { runs[subject] = run }
      }
      for (hash, subjects) in wanted {
        if let run = subjects.compactMap({ runs[$0] }).last { try store.note(remaking: hash, by: run, session) }
      }
      return (runs, unreadable)
    }
    for (hash, subjects) in wanted {
      if let run = subjects.compactMap({ runs[$0] }).last {
        recorder.log.warning("damaged media are made again", ["blob": hash.hex, "run": run.description])
      } else {
        let reason = subjects.compactMap { unreadable[$0] }.first
        try await giveUp(hash, because: reason ?? "nothing tells by which definition it was made", pool)
      }
    }
  }
}
