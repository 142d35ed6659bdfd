package import Crypto
package import Postgres

extension Store {
  /// Drops those of some sets that nobody refers to, that did not retire and are not kept on purpose, and notes their
  /// blobs for `collectReleased`; how many.
  ///
  /// A set is written together with the reference to it: one that is seen without it will never have one.
  package func dropOrphans(_ sets: [Int64], _ session: Session) throws(PostgresError) -> Int {
    let rows = try session.execute(Self.collecting["loose_sets"], .integers(sets))
    for row in rows { try dropSet(try row.get("id"), session) }
    return rows.count
  }

  /// Drops the sets that name a blob, were replaced and are not kept on purpose, however short ago, and notes their blobs
  /// for `collectReleased`; how many.
  package func dropRetired(naming hash: SHA256Digest, _ session: Session) throws(PostgresError) -> Int {
    try dropRetired(session.execute(Self.collecting["retired_naming"], .bytes(hash.bytes)), session)
  }
}
