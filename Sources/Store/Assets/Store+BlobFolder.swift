package import Blobs
package import Crypto
package import Model
package import Postgres
import Queue

/// The check that a folder or a bucket of blobs belongs to the database: both have the same id.
extension Store {
  static let damageStatements = Statements(topic: "damage", PackageResources.Damage_sql)
  /// The number of the newest blobs that are looked for in a folder without a known id.
  private static let newest = 8

  /// Opens the blobs of the database. In a place that it refuses it creates nothing.
  ///
  /// Call it in a transaction of its own. It may be interrupted at any point: the next call adopts a store-id whose id is
  /// not in the database yet.
  ///
  /// - Parameter isAdopting: whether an operator has confirmed that the place is the right one.
  /// - Throws: `BlobFolderRefusal`, `BlobError`.
  package static func openBlobs<Blobs>(
    in place: BlobPlace<Blobs>, isAdopting: Bool = false, _ session: Session
  ) throws -> Blobs {
    try session.execute(damageStatements["lock_adopting"])
    switch try match(of: place, isAdopting: isAdopting, session) {
    case .same(let id): return try place.open(id).blobs
    case .adopted(let id):
      let (blobs, opened) = try place.open(id ?? .now())
      try session.execute(damageStatements["insert_store_id"], .text(opened.description))
      return blobs
    case .refused(let refusal): throw refusal
    }
  }

  /// Opens the blobs of a database and the store that they move to, or have moved to: what is written goes to both.
  ///
  /// Call it in a transaction of its own.
  ///
  /// - Parameter place: the store of the blobs before the move.
  /// - Throws: `BlobFolderRefusal`, `BlobError`.
  package static func openBlobs(
    in place: BlobPlace<any InspectableBlobStore>, movingTo next: BlobPlace<any InspectableBlobStore>,
    _ session: Session
  ) throws -> any InspectableBlobStore {
    try session.execute(damageStatements["lock_adopting"])
    let target = try next.open(.now())
    let known = try storeIDs(session)
    let source: any InspectableBlobStore
    if let known, known.current == target.id, let previous = known.previous, try place.id() == previous {
      source = try place.open(previous).blobs
    } else {
      if let expected = known?.next, expected != target.id {
        throw BlobFolderRefusal.another(target.id, expected: expected)
      }
      source = try openBlobs(in: place, session)
    }
    guard !source.ids.contains(target.id) else { throw BlobFolderRefusal.itself(target.id) }
    return MovingBlobStore(source, next: target.blobs)
  }

  /// Compares a place of blobs with the database, and changes nothing.
  package static func match<Blobs>(
    of place: BlobPlace<Blobs>, isAdopting: Bool = false, _ session: Session
  ) throws -> BlobFolderMatch {
    let known = try session.execute(damageStatements["store_id"]).first?.publicID("id")
    let newest = try session.execute(damageStatements["newest_files"], .integer(Self.newest)).compactMap { row in
      SHA256Digest(bytes: try row.get("hash"))
    }
    return BlobFolderMatch(
      known: known, found: try place.id(), hasNewest: try newest.isEmpty || newest.contains(where: place.contains),
      isAdopting: isAdopting)
  }
}

/// Where blobs lie: a folder or a bucket, which may not be that of the database.
package struct BlobPlace<Blobs>: Sendable {
  /// The id of the store; nil if there is none.
  package let id: @Sendable () throws -> PublicID?
  let contains: @Sendable (SHA256Digest) throws -> Bool
  /// Opens the store, and gives it an id if it has none; returns the one that it has.
  package let open: @Sendable (PublicID) throws -> (blobs: Blobs, id: PublicID)

  package init(
    id: @escaping @Sendable () throws -> PublicID?, contains: @escaping @Sendable (SHA256Digest) throws -> Bool,
    open: @escaping @Sendable (PublicID) throws -> (blobs: Blobs, id: PublicID)
  ) {
    self.id = id
    self.contains = contains
    self.open = open
  }
}

extension BlobPlace where Blobs == any InspectableBlobStore {
  package static func folder(_ path: String) -> BlobPlace {
    BlobPlace(
      id: { try FolderBlobStore.id(in: path) }, contains: { FolderBlobStore.contains($0, in: path) },
      open: { id in
        let blobs = try FolderBlobStore(folder: path, id: id)
        return (blobs, blobs.id)
      })
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
  /// The store that the blobs move to is that in which they are.
  case itself(PublicID)
  /// The folder has none of the newest blobs in the database.
  case lacksNewest

  package var description: String {
    switch self {
    case .unmarked(let expected): "it has no file store-id, but the database belongs to the store \(expected)"
    case .another(let found, let expected):
      "it is the store \(found), but the database belongs to the store \(expected)"
    case .itself(let id): "the blobs move to another store, and this is their own, \(id)"
    case .lacksNewest: "it contains none of the newest blobs in the database"
    }
  }
}
