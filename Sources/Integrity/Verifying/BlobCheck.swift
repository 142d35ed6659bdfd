import Crypto
import Platform
import Postgres

/// A check of a blob that compares its row with its file. The file is read while no lock is held: it may be large, or far away. What
/// follows from it happens under the lock of the row, if the row is still the same; otherwise the check begins again.
///
/// A writer changes the row before it publishes the file, and a collector deletes it before it removes the file: a file that was read while
/// one of them was at work belongs to another row than the one that is locked.
struct BlobCheck: Sendable {
  let hash: SHA256Digest
  /// The statement that locks the row.
  let lock: Statement
  let pool: Pool

  /// Runs the check; nil if the row does not exist, or `read` returns nil.
  ///
  /// - Parameters:
  ///   - read: reads the file, on a thread of its own.
  ///   - body: receives the bytes that were read, in a transaction that holds the lock.
  func run<Content: Sendable, Result: Sendable>(
    reading read: @escaping @Sendable (BlobEvidence) throws -> Content?,
    _ body: @Sendable (BlobEvidence, Content, Session) throws -> Result
  ) async throws -> Result? {
    while let before = try await pool.run({ session in try row(session) }) {
      guard let content = try await onThread("blob-check", { try read(before.evidence) }) else { return nil }
      let result = try await pool.transaction { session -> Result? in
        try session.execute(lock, .bytes(hash.bytes))
        guard let now = try row(session), now.version == before.version else { return nil }
        return try body(now.evidence, content, session)
      }
      if let result { return result }
    }
    return nil
  }

  private func row(_ session: Session) throws -> (evidence: BlobEvidence, version: String)? {
    try session.execute(Integrity.statements["blob"], .bytes(hash.bytes)).first.map { row in
      (try BlobEvidence(row), try row.get("version"))
    }
  }
}
