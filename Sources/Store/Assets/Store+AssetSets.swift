import Blobs
package import Crypto
import Model
package import Postgres

/// Asset sets: their insertion and removal.
extension Store {
  /// Inserts a set and its assets, whose blobs are published or loaded, inside the caller's transaction, that of
  /// `transaction(publishing:)`.
  ///
  /// The rows of the blobs are locked first, in the order of their hashes, so that two writers do not deadlock.
  func insertSet(
    _ assets: [NewAsset], definition: SHA256Digest?, recipe: SHA256Digest?, job: PublicID?, _ session: Session
  ) throws -> Int64 {
    for asset in assets.sorted(by: { $0.content.hash < $1.content.hash }) {
      let inline = asset.isInline ? try asset.content.content() : nil
      let inserted = try session.execute(
        Self.statements["insert_blob"], .bytes(asset.content.hash.bytes), .integer(asset.content.bytes),
        .bytes(inline), .texts(blobs.ids.map(\.description)))
      guard !inserted.isEmpty else { throw Self.movedAway }
    }
    try requirePublished(assets, session)
    let set: Int64 = try session.execute(
      Self.statements["insert_set"], .text(PublicID.now().description), .bytes(definition?.bytes),
      .bytes(recipe?.bytes), .text(job?.description)
    ).single().get("id")
    for asset in assets {
      try session.execute(
        Self.statements["insert_asset"], .text(PublicID.now().description), .integer(set), .text(asset.role.rawValue),
        .bytes(asset.content.hash.bytes), .text(asset.type), .integer(asset.content.bytes),
        .integer(asset.width.map(Int64.init)), .integer(asset.height.map(Int64.init)), .double(asset.duration),
        .text(asset.thumbhash), .integer(asset.place), .text(asset.color))
    }
    return set
  }

  /// Removes sets that were replaced longer ago than `age` and are not kept, and returns their number.
  ///
  /// Call it in a transaction of its own, and `collectReleased` after the commit.
  @discardableResult
  package func dropRetired(olderThan age: Duration, limit: Int = 100, _ session: Session) throws(PostgresError) -> Int {
    try dropRetired(
      session.execute(Self.statements["retired_sets"], .double(age / .seconds(1)), .integer(limit)), session)
  }

  /// Removes replaced sets. Kept sets that these had replaced stay.
  func dropRetired(_ sets: Rows, _ session: Session) throws(PostgresError) -> Int {
    for set in sets {
      let id: Int64 = try set.get("id")
      try session.execute(
        Self.statements["reattach_replaced"], .integer(id), .integer(try set.get("replaced_by", as: Int64?.self)))
      try dropSet(id, session)
    }
    return sets.count
  }

  /// Removes a set with those that it replaced, and releases their blobs for `collectReleased`.
  func dropSet(_ set: Int64, _ session: Session) throws(PostgresError) {
    try session.execute(Self.statements["release_set"], .integer(set))
    try session.execute(Self.statements["drop_set"], .integer(set))
  }
}

extension Store {
  /// Removes the given sets that are orphans: no post or image refers to them, they were not replaced and are not kept.
  /// It releases their blobs for `collectReleased`, and returns the number of sets.
  ///
  /// A set and the reference to it are written in one transaction: a visible set without a reference never gets one.
  package func dropOrphans(_ sets: [Int64], _ session: Session) throws(PostgresError) -> Int {
    let rows = try session.execute(Self.collecting["orphan_sets"], .integers(sets))
    for row in rows { try dropSet(try row.get("id"), session) }
    return rows.count
  }

  /// Removes the sets that contain a blob, were replaced and are not kept, also within the grace period. It releases
  /// their blobs for `collectReleased`, and returns the number of sets.
  package func dropRetired(containing hash: SHA256Digest, _ session: Session) throws(PostgresError) -> Int {
    try dropRetired(session.execute(Self.collecting["retired_sets_of_blob"], .bytes(hash.bytes)), session)
  }
}
