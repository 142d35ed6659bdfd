package import Model

/// Whether a folder is the one that the database's blobs lie in.
package enum BlobFolderMatch: Sendable, Hashable {
  /// Both have this id.
  case same(PublicID)
  /// The database takes it for its own: by the id that it has, or by a new one.
  case adopted(PublicID?)
  case refused(BlobFolderRefusal)

  /// - Parameters:
  ///   - known: the id in the database.
  ///   - found: the id in the folder.
  ///   - hasNewest: whether the newest blobs that the database names are in the folder, or it names none.
  ///   - isAdopting: whether an operator says that it is the right one.
  package init(known: PublicID?, found: PublicID?, hasNewest: Bool, isAdopting: Bool) {
    switch (known, found) {
    case (let known?, let found?) where known == found: self = .same(known)
    // A marker that is there stays as it is: other machines know the folder by it.
    case (_, let found?) where isAdopting: self = .adopted(found)
    case (let known, nil) where isAdopting: self = .adopted(known)
    case (nil, let found): self = hasNewest ? .adopted(found) : .refused(.lacksNewest)
    case (let known?, let found?): self = .refused(.another(found, expected: known))
    case (let known?, nil): self = .refused(.unmarked(expected: known))
    }
  }
}

/// Why a folder is not taken for the one that the database's blobs lie in.
package enum BlobFolderRefusal: Error, Sendable, Hashable, CustomStringConvertible {
  /// It has no marker.
  case unmarked(expected: PublicID)
  /// It is another store's.
  case another(PublicID, expected: PublicID)
  /// It has none of the newest blobs that the database names.
  case lacksNewest

  package var description: String {
    switch self {
    case .unmarked(let expected): "it has no file store-id, and the database's blobs lie in the store \(expected)"
    case .another(let found, let expected): "it is the store \(found), and the database's blobs lie in \(expected)"
    case .lacksNewest: "none of the newest blobs that the database names is in it"
    }
  }
}
