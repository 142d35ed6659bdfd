package import Blobs
import Crypto
import Model
package import Postgres
import Queue

/// The folder of blobs and the database belong together by an id that both have.
extension Store {
  static let damageStatements = Statements(topic: "damage", PackageResources.Damage_sql)
  /// So many of the newest blobs are looked for in a folder of which nothing else is known.
  private static let newest = 8

  /// Opens the folder of the database's blobs; nothing is made in one that is refused.
  ///
  /// Call it in a transaction of its own. It is cut off anywhere without harm: a marker that the database does not know of
  /// is taken up by the next call.
  ///
  /// - Parameter isAdopting: whether the folder is taken as it is, because an operator says so.
  /// - Throws: `BlobFolderRefusal`, `BlobError`.
  package static func openBlobs(
    in folder: String, isAdopting: Bool = false, _ session: Session
  ) throws -> FolderBlobStore {
    try session.execute(damageStatements["begin_adopting"])
    let known = try session.execute(damageStatements["store_id"]).first?.publicID("id")
    let newest = try session.execute(damageStatements["newest_files"], .integer(Self.newest)).compactMap { row in
      SHA256Digest(bytes: try row.get("hash"))
    }
    let match = BlobFolderMatch(
      known: known, found: try FolderBlobStore.id(in: folder),
      hasNewest: newest.isEmpty || newest.contains { FolderBlobStore.holds($0, in: folder) }, isAdopting: isAdopting)
    switch match {
    case .same(let id): return try FolderBlobStore(folder: folder, id: id)
    case .adopted(let id):
      let blobs = try FolderBlobStore(folder: folder, id: id ?? .now())
      try session.execute(damageStatements["keep_store_id"], .text(blobs.id.description))
      return blobs
    case .refused(let refusal): throw refusal
    }
  }
}
