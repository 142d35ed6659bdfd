package import Blobs
package import Crypto
package import Model
import Platform
package import Postgres
import Queue

/// The check that a folder or a bucket of blobs belongs to the database: both have the same id.
package enum DatabaseBlobs {
  /// Opens the blobs of the database. In a place that it refuses it creates nothing.
  ///
  /// No transaction is open while the place is asked, which may be far away. It may be interrupted at any point: the next call adopts a
  /// store-id whose id is not in the database yet.
  ///
  /// - Parameter isAdopting: whether an operator has confirmed that the place is the right one.
  /// - Throws: `BlobFolderRefusal`, `BlobError`.
  package static func open<Blobs: Sendable>(
    in place: BlobPlace<Blobs>, isAdopting: Bool = false, _ pool: Pool
  ) async throws -> Blobs {
    while true {
      let known = try await KnownBlobs(pool)
      switch try await known.match(of: place, isAdopting: isAdopting) {
      case .same(let id): return try await onThread("blobs") { try place.open(id).blobs }
      case .adopted(let found):
        let id = if let found { found } else { try await intendedID(pool) }
        let (blobs, opened) = try await onThread("blobs") { try place.open(id) }
        // Another process may have adopted a place meanwhile.
        if try await adopt(opened, insteadOf: known.id, pool) { return blobs }
      case .refused(let refusal): throw refusal
      }
    }
  }

  /// The id of a new store. Processes that start at the same time get the same one.
  private static func intendedID(_ pool: Pool) async throws -> PublicID {
    try await pool.run { session in
      try session.execute(Damage.statements["intend_store_id"], .text(PublicID.now().description)).single()
        .publicID("id")
    }
  }

  /// Records the id of the store; false if the database knows another one than before.
  private static func adopt(_ id: PublicID, insteadOf known: PublicID?, _ pool: Pool) async throws -> Bool {
    try await pool.transaction { session in
      try session.execute(Damage.statements["lock_adopting"])
      let present = try session.execute(Damage.statements["store_id"]).first?.publicID("id")
      guard present == known || present == id else { return false }
      try session.execute(Damage.statements["insert_store_id"], .text(id.description))
      return true
    }
  }

  /// Opens the blobs of a database and the store that they move to, or have moved to: writes go to both.
  ///
  /// - Parameter place: the store of the blobs before the move.
  /// - Throws: `BlobFolderRefusal`, `BlobError`.
  package static func open(
    in place: BlobPlace<any InspectableBlobStore>, movingTo next: BlobPlace<any InspectableBlobStore>, _ pool: Pool
  ) async throws -> any InspectableBlobStore {
    let target = try await onThread("blobs") { try next.open(.now()) }
    let known = try await pool.run { session in try Moving.storeIDs(session) }
    var source: (any InspectableBlobStore)?
    if let known, known.current == target.id, let previous = known.previous {
      source = try await onThread("blobs") { try place.id() == previous ? place.open(previous).blobs : nil }
    }
    if source == nil, let expected = known?.next, expected != target.id {
      throw BlobFolderRefusal.another(target.id, expected: expected)
    }
    let opened = if let source { source } else { try await open(in: place, pool) }
    guard !opened.ids.contains(target.id) else { throw BlobFolderRefusal.itself(target.id) }
    return MovingBlobStore(opened, next: target.blobs)
  }

  /// Compares a place of blobs with the database, and changes nothing.
  package static func match<Blobs>(of place: BlobPlace<Blobs>, _ pool: Pool) async throws -> BlobFolderMatch {
    try await KnownBlobs(pool).match(of: place, isAdopting: false)
  }
}

/// What the database knows of its blobs.
private struct KnownBlobs: Sendable {
  /// The id of their store; nil before the first use.
  let id: PublicID?
  /// The newest ones that are files.
  let newest: [SHA256Digest]

  private static let newestCount = 8

  init(_ pool: Pool) async throws {
    (id, newest) = try await pool.run { session in
      let id = try session.execute(Damage.statements["store_id"]).first?.publicID("id")
      let newest = try session.execute(Damage.statements["newest_files"], .integer(Self.newestCount))
      return (id, try newest.compactMap { row in SHA256Digest(bytes: try row.get("hash")) })
    }
  }

  func match<Blobs>(of place: BlobPlace<Blobs>, isAdopting: Bool) async throws -> BlobFolderMatch {
    try await onThread("blobs") {
      BlobFolderMatch(
        known: id, found: try place.id(), hasNewest: try newest.isEmpty || newest.contains(where: place.contains),
        isAdopting: isAdopting)
    }
  }
}

/// Where blobs lie: a folder or a bucket, which may belong to another database.
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
