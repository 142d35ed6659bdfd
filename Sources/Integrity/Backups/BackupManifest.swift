package import Crypto
package import FoundationEssentials
package import Model

/// What a backup consists of: the file `backup.json`, which is written last and makes the folder a backup.
package struct BackupManifest: Codable, Sendable, Hashable {
  /// The dump of the database.
  package struct Dump: Codable, Sendable, Hashable {
    /// Its name in the folder.
    package var file: String
    package var bytes: Int64
    package var sha256: SHA256Digest

    package init(file: String, bytes: Int64, sha256: SHA256Digest) {
      self.file = file
      self.bytes = bytes
      self.sha256 = sha256
    }
  }

  /// What the dump has.
  package struct Counts: Codable, Sendable, Hashable {
    package var posts: Int
    package var images: Int
    /// The blobs that are files, and their bytes.
    package var blobs: Int
    package var blobBytes: Int64
    /// The missing blobs: the store did not have them undamaged.
    package var missing: Int

    package init(_ dumped: DumpedRows, missing: Int) {
      posts = dumped.rows["post"] ?? 0
      images = dumped.rows["image"] ?? 0
      blobs = dumped.blobs
      blobBytes = dumped.bytes
      self.missing = missing
    }
  }

  /// The version of this format.
  package var format: Int
  /// The version of take5 that wrote the backup.
  package var version: String
  /// The time of the dump.
  package var createdAt: Date
  /// The id of the store.
  package var store: PublicID
  /// The newest version of the schema.
  package var schema: Int
  /// The major version of PostgreSQL.
  package var postgres: Int
  package var dump: Dump
  package var counts: Counts

  /// The format that this program reads and writes.
  package static let format = 1

  package init(
    version: String, createdAt: Date, store: PublicID, schema: Int, postgres: Int, dump: Dump, counts: Counts
  ) {
    format = Self.format
    self.version = version
    self.createdAt = createdAt
    self.store = store
    self.schema = schema
    self.postgres = postgres
    self.dump = dump
    self.counts = counts
  }
}
