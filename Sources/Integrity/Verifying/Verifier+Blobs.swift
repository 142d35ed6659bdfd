import Blobs
import Crypto
import Model
import Platform
import Postgres
import Queue
import Store

extension Verifier {
  /// The number of rows in a page: the server hashes up to 256 KiB for each.
  private static let blobPage = 64

  /// Checks that each row has content with the right hash.
  func checkBlobs(_ totals: Totals, _ report: inout VerifyReport) async throws {
    var last: [UInt8] = []
    // The files of shards that pages are in, by the byte that their hashes begin with.
    var listed: [UInt8: Set<SHA256Digest>] = [:]
    while true {
      let page = try await pool.run { [last] session in
        try session.execute(Integrity.statements["blobs"], .bytes(last), .integer(Self.blobPage)).map(BlobEvidence.init)
      }
      guard let end = page.last else { return }
      last = end.hash.bytes
      let absent = try await absentFiles(of: page, &listed)
      var files: [SHA256Digest: BlobContent] = [:]
      try await page.map(\.hash).filter { !absent.contains($0) }.forEach(concurrently: parallel) { [reader] hash in
        try await onThread("verify-blobs") { try reader.content(of: hash) }
      } receive: { hash, content in
        files[hash] = content
      }
      for var evidence in page {
        evidence.file = files[evidence.hash] ?? .absent
        report.checked.blobs += 1
        // A damaged row may have any number.
        report.checked.bytes &+= evidence.bytes
        if evidence.isSuspect { report.findings += try await confirmedFindings(evidence.hash) }
      }
      reportProgress(.blobs, report.checked.bytes, of: totals.bytes)
    }
  }

  /// Returns those blobs in rows that have no file as well. A listing says it of many; a bucket would take a request to
  /// deny each.
  private func absentFiles(
    of page: [BlobEvidence], _ listed: inout [UInt8: Set<SHA256Digest>]
  ) async throws -> Set<SHA256Digest> {
    let rows = page.filter { !$0.inline.isAbsent }.map(\.hash)
    let shards = Set(rows.map { $0.bytes[0] })
    listed = listed.filter { shards.contains($0.key) }
    let blobs = blobs
    for shard in shards where listed[shard] == nil {
      listed[shard] = Set(try await onThread("verify-blobs") { try blobs.listing(ofShard: Int(shard)) }.blobs.keys)
    }
    return Set(rows.filter { listed[$0.bytes[0]]?.contains($0) == false })
  }

  /// Checks a blob again, against the lock of its row, and records that its file is damaged.
  private func confirmedFindings(_ hash: SHA256Digest) async throws -> [Finding] {
    try await BlobCheck(hash: hash, lock: Integrity.statements["lock_blob_shared"], pool: pool)
      .run(reading: { [reader] _ in try reader.content(of: hash) }) { [recordsDamage] row, file, session in
        var evidence = row
        evidence.file = file
        guard evidence.isSuspect else { return [] }
        let findings = evidence.findings(uses: try BlobUse.read(hash, session))
        if recordsDamage, let finding = findings.first, finding.code == evidence.fileFault,
          finding.severity == .damaged || finding.severity == .lost
        {
          _ = try Damage.note(evidence.file.isAbsent ? .missing : .corrupt, of: hash, session)
        }
        return findings
      } ?? []
  }
}

extension BlobEvidence {
  /// Reads a row of the statements `blobs` and `blob`; the file is not checked.
  init(_ row: Row) throws {
    guard let hash = SHA256Digest(bytes: try row.get("hash")) else {
      throw PostgresError(.decoding, "the hash of a blob is not a SHA-256")
    }
    var inline = BlobContent.absent
    if let bytes = try row.get("inline_bytes", as: Int64?.self) {
      let found = try row.get("inline_hash", as: [UInt8]?.self).flatMap { SHA256Digest(bytes: $0) }
      inline = found == hash ? .intact(bytes: bytes) : .wrong("\(bytes) bytes with the hash \(found?.hex ?? "-")")
    }
    self.init(
      hash: hash, bytes: try row.get("bytes"), inline: inline, file: .absent, isSource: try row.get("is_source"),
      isUnreferenced: try row.get("is_unreferenced"), isReleased: try row.get("is_released"))
  }
}

extension BlobUse {
  /// Reads the assets and quarantined inputs that refer to a blob.
  static func read(_ hash: SHA256Digest, _ session: Session) throws -> [BlobUse] {
    let assets = try session.execute(Integrity.statements["uses_of_blob"], .bytes(hash.bytes)).map(BlobUse.init)
    let quarantined = try session.execute(Integrity.statements["quarantines_of_blob"], .bytes(hash.bytes))
    return try assets
      + quarantined.compactMap { row in
        guard let inputs = SHA256Digest(bytes: try row.get("inputs")) else { return nil }
        return BlobUse(role: try role(row), quarantinedAs: inputs)
      }
  }

  /// Reads a row of the statements `uses_of_blob` and `owners_of_asset`.
  init(_ row: Row) throws {
    let kind = try row.get("kind", as: String?.self)
    self.init(
      role: try Self.role(row), subject: try kind.map { try Subject(kind: $0, id: try row.publicID("subject")) },
      hasSources: try row.get("has_sources", as: Bool?.self) ?? false, isKept: try row.get("is_kept"))
  }

  private static func role(_ row: Row) throws(PostgresError) -> Role {
    let text = try row.get("role", as: String.self)
    guard let role = Role(rawValue: text) else { throw PostgresError(.decoding, "unknown role '\(text)'") }
    return role
  }
}

extension Subject {
  /// Creates a subject from the column `kind` of a statement.
  init(kind: String, id: PublicID) throws(PostgresError) {
    switch kind {
    case "post": self = .post(id)
    case "image": self = .image(id)
    default: throw PostgresError(.decoding, "unknown kind '\(kind)'")
    }
  }
}

/// Reads blobs and hashes them.
struct BlobReader: Sendable {
  let blobs: any InspectableBlobStore

  /// Reads and checks the file of a blob.
  func content(of hash: SHA256Digest) throws(BlobError) -> BlobContent {
    do throws(BlobError) {
      let file = try blobs.openUncached(hash)
      do throws(SystemError) {
        let digest = try SHA256.digest(of: file)
        let bytes = try file.size()
        return digest == hash ? .intact(bytes: bytes) : .wrong("\(bytes) bytes with the hash \(digest)")
      } catch {
        throw BlobError.system(error)
      }
    } catch {
      switch error.damage {
      case .missing: return .absent
      case .truncated, .corrupt: return .wrong("content that cannot be read: \(error)")
      case nil: throw error
      }
    }
  }
}
