package import Blobs
import Crypto
package import Model
package import Postgres
import Queue

/// The check that a folder of blobs belongs to the database: both have the same id.
extension Store {
  static let damageStatements = Statements(topic: "damage", PackageResources.Damage_sql)
  /// The number of the newest blobs that are looked for in a folder without a known id.
  private static let newest = 8

  /// Opens the folder of the database's blobs. In a folder that it refuses it creates no file.
  ///
  /// Call it in a transaction of its own. It may be interrupted at any point: the next call adopts a store-id file whose
  /// id is not in the database yet.
  ///
  /// - Parameter isAdopting: whether an operator has confirmed that the folder is the right one.
  /// - Throws: `BlobFolderRefusal`, `BlobError`.
  package static func openBlobs(
    in folder: String, isAdopting: Bool = false, _ session: Session
  ) throws -> FolderBlobStore {
    try session.execute(damageStatements["lock_adopting"])
    switch try match(of: folder, isAdopting: isAdopting, session) {
    case .same(let id): return try FolderBlobStore(folder: folder, id: id)
    case .adopted(let id):
      let blobs = try FolderBlobStore(folder: folder, id: id ?? .now())
      try session.execute(damageStatements["insert_store_id"], .text(blobs.id.description))
      return blobs
    case .refused(let refusal): throw refusal
    }
  }

  /// Compares a folder with the database, and changes nothing.
  package static func match(
    of folder: String, isAdopting: Bool = false, _ session: Session
  ) throws -> BlobFolderMatch {
    let known = try session.execute(damageStatements["store_id"]).first?.publicID("id")
    let newest = try session.execute(damageStatements["newest_files"], .integer(Self.newest)).compactMap { row in
      SHA256Digest(bytes: try row.get("hash"))
    }
    return BlobFolderMatch(
      known: known, found: try FolderBlobStore.id(in: folder),
      hasNewest: newest.isEmpty || newest.contains { FolderBlobStore.contains($0, in: folder) }, isAdopting: isAdopting)
  }
}

/// The result of the comparison of a folder with the database.
package enum BlobFolderMatch: Sendable, Hashable {
  /// Both have this id.
  case same(PublicID)
  /// The folder becomes the database's: with this id, or with a new one.
  case adopted(PublicID?)
  case refused(BlobFolderRefusal)

  /// - Parameters:
  ///   - known: the id in the database.
  ///   - found: the id in the folder.
  ///   - hasNewest: whether any of the newest blobs in the database is in the folder, or the database has none.
  ///   - isAdopting: whether an operator has confirmed that the folder is the right one.
  package init(known: PublicID?, found: PublicID?, hasNewest: Bool, isAdopting: Bool) {
    switch (known, found) {
    case (let known?, let found?) where known == found: self = .same(known)
    // An existing store-id file stays: other machines identify the folder by it.
    case (_, let found?) where isAdopting: self = .adopted(found)
    case (let known, nil) where isAdopting: self = .adopted(known)
    case (nil, let found): self = hasNewest ? .adopted(found) : .refused(.lacksNewest)
    case (let known?, let found?): self = .refused(.another(found, expected: known))
    case (let known?, nil): self = .refused(.unmarked(expected: known))
    }
  }
}

/// The reason why a folder is refused as the folder of the database's blobs.
package enum BlobFolderRefusal: Error, Sendable, Hashable, CustomStringConvertible {
  /// The folder has no marker.
  case unmarked(expected: PublicID)
  /// The folder belongs to another store.
  case another(PublicID, expected: PublicID)
  /// The folder has none of the newest blobs in the database.
  case lacksNewest

  package var description: String {
    switch self {
    case .unmarked(let expected): "it has no file store-id, but the database belongs to the store \(expected)"
    case .another(let found, let expected):
      "it is the store \(found), but the database belongs to the store \(expected)"
    case .lacksNewest: "it contains none of the newest blobs in the database"
    }
  }
}
