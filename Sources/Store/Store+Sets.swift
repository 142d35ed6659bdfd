import Blobs
import Crypto
import Model
package import Postgres

extension Store {
  /// Writes a set and its assets, and publishes their blobs, inside the caller's transaction.
  ///
  /// The rows of the blobs are locked first, in the order of their hashes so that two writers never wait for each other;
  /// the files become visible only after that, and before the commit.
  func insertSet(
    _ assets: [NewAsset], definition: SHA256Digest?, recipe: SHA256Digest?, job: PublicID?, _ session: Session
  ) throws -> Int64 {
    // Files that are not on the disk yet get there before any lock is held.
    for asset in assets where !asset.isInline { try asset.content.synchronize() }
    for asset in assets.sorted(by: { $0.content.hash < $1.content.hash }) {
      let inline = asset.isInline ? try asset.content.content() : nil
      let isDamaged: Bool = try session.execute(
        Self.statements["keep_blob"], .bytes(asset.content.hash.bytes), .integer(asset.content.bytes), .bytes(inline)
      ).single().get("is_damaged")
      guard !asset.isInline else { continue }
      try blobs.publish(asset.content, replacing: isDamaged)
      if isDamaged { try dropDamage(of: asset.content.hash, session) }
    }
    let set: Int64 = try session.execute(
      Self.statements["keep_set"], .text(PublicID.now().description), .bytes(definition?.bytes),
      .bytes(recipe?.bytes), .text(job?.description)
    ).single().get("id")
    for asset in assets {
      try session.execute(
        Self.statements["keep_asset"], .text(PublicID.now().description), .integer(set), .text(asset.role.rawValue),
        .bytes(asset.content.hash.bytes), .text(asset.type), .integer(asset.content.bytes),
        .integer(asset.width.map(Int64.init)), .integer(asset.height.map(Int64.init)), .double(asset.duration),
        .text(asset.thumbhash), .integer(asset.place), .text(asset.color))
    }
    return set
  }

  /// Removes sets that others took the place of longer ago than that, as far as they are not to be kept; how many.
  ///
  /// Call it in a transaction of its own, and `collectReleased` after the commit.
  @discardableResult
  package func dropRetired(olderThan age: Duration, limit: Int = 100, _ session: Session) throws(PostgresError) -> Int {
    try dropRetired(
      session.execute(Self.statements["retired_sets"], .double(age / .seconds(1)), .integer(limit)), session)
  }

  /// Removes sets that others took the place of; what they had replaced themselves stays.
  func dropRetired(_ sets: Rows, _ session: Session) throws(PostgresError) -> Int {
    for set in sets {
      let id: Int64 = try set.get("id")
      try session.execute(
        Self.statements["pass_on_replaced"], .integer(id), .integer(try set.get("replaced_by", as: Int64?.self)))
      try dropSet(id, session)
    }
    return sets.count
  }

  /// Removes a set with those that it replaced, and notes their blobs for `collectReleased`.
  func dropSet(_ set: Int64, _ session: Session) throws(PostgresError) {
    try session.execute(Self.statements["release_set"], .integer(set))
    try session.execute(Self.statements["drop_set"], .integer(set))
  }
}
