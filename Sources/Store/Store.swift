package import Blobs
import FoundationEssentials
package import Model
package import Platform
package import Postgres
import Queue

/// What was submitted and what became of it: posts, asset sets, blobs and definitions.
///
/// Its calls run on a connection's thread, inside the caller's transaction where they write. State changes that belong
/// together are one call, so that they are one transaction.
package struct Store: Sendable {
  static let statements = Statements(topic: "store", PackageResources.Store_sql)

  let blobs: any BlobStore
  let authorConcurrency: Int?

  /// - Parameter authorConcurrency: of the jobs of one author, so many at most are at work at a time; nil: any number.
  package init(blobs: any BlobStore, authorConcurrency: Int? = nil) {
    self.blobs = blobs
    self.authorConcurrency = authorConcurrency
  }

  /// Throws unless the database answers, and takes writes.
  package func check(_ session: Session) throws(PostgresError) {
    try session.execute(Self.statements["is_writable"])
  }

  /// Reads a post with its current assets and its job, all as of one moment; nil if there is none.
  package func post(_ id: PublicID, _ session: Session) throws -> Post? {
    if session.isInTransaction { return try read(id, session) }
    return try session.snapshot { session in try read(id, session) }
  }

  private func read(_ id: PublicID, _ session: Session) throws -> Post? {
    try posts(of: Array(session.execute(Self.statements["post"], .text(id.description))), session).first
  }

  /// Reads an asset of any set, sources included; nil if there is none.
  package func asset(_ id: PublicID, _ session: Session) throws -> StoredAsset? {
    guard let row = try session.execute(Self.statements["asset"], .text(id.description)).first else { return nil }
    return try StoredAsset(try Asset(row), row)
  }

  /// Opens the bytes of an asset that does not lie in the database; throws what is the matter with a file that is not, or
  /// is known not to be, what it should be.
  package func content(of stored: StoredAsset) throws(BlobError) -> Descriptor {
    if let damage = stored.damage { throw .damaged(stored.hash, damage.kind) }
    return try blobs.open(stored.hash, bytes: stored.asset.bytes)
  }

  func assets(ofSet set: Int64, _ session: Session) throws(PostgresError) -> [Asset] {
    try assets(ofSets: [set], session)[set] ?? []
  }
}
