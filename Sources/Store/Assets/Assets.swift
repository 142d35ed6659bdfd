import Blobs
package import Crypto
package import Model
package import Postgres
import Queue

/// Assets and their sets: how they are read and removed.
package enum Assets {
  /// Removes sets that were replaced longer ago than `age` and are not kept, and returns their number.
  ///
  /// Call it in a transaction of its own, and `collectReleased` after the commit.
  @discardableResult
  package static func dropRetired(olderThan age: Duration, limit: Int = 100, _ session: Session) throws(PostgresError)
    -> Int
  {
    try dropRetired(
      session.execute(Store.statements["retired_sets"], .double(age / .seconds(1)), .integer(limit)), session)
  }

  /// Removes replaced sets. Kept sets that these had replaced stay.
  static func dropRetired(_ sets: Rows, _ session: Session) throws(PostgresError) -> Int {
    for set in sets {
      let id: Int64 = try set.get("id")
      try session.execute(
        Store.statements["reattach_replaced"], .integer(id), .integer(try set.get("replaced_by", as: Int64?.self)))
      try dropSet(id, session)
    }
    return sets.count
  }

  /// Removes a set with the sets that it replaced, and releases their blobs for `collectReleased`.
  static func dropSet(_ set: Int64, _ session: Session) throws(PostgresError) {
    try session.execute(Store.statements["release_set"], .integer(set))
    try session.execute(Store.statements["drop_set"], .integer(set))
  }

  /// Reads the assets and the jobs of rows with the columns `asset_set_id` and `job`, in one round trip.
  package static func assetsAndJobs(
    of rows: some Sequence<Row>, _ session: Session
  ) throws -> (assets: [Int64: [Asset]], jobs: [PublicID: JobSummary]) {
    let sets = try rows.compactMap { try $0.get("asset_set_id", as: Int64?.self) }
    let ids = try rows.compactMap { row in try row.get("job", as: String?.self).flatMap { PublicID($0) } }
    var calls: [(statement: Statement, parameters: [Parameter])] = []
    if !sets.isEmpty { calls.append((Store.statements["assets_of_sets"], [.integers(sets)])) }
    if !ids.isEmpty { calls.append(JobQueue.finding(ids)) }
    let results = try session.execute(together: calls)
    let jobs = try ids.isEmpty ? [] : results.last.map { try JobQueue.found($0, ids, session) } ?? []
    return (
      try sets.isEmpty ? [:] : Self.read(results[0]),
      Dictionary(jobs.map { ($0.publicID, $0.summary) }) { first, _ in first }
    )
  }

  package static func list(ofSets sets: [Int64], _ session: Session) throws(PostgresError) -> [Int64: [Asset]] {
    try sets.isEmpty ? [:] : Self.read(session.execute(Store.statements["assets_of_sets"], .integers(sets)))
  }

  private static func read(_ rows: Rows) throws(PostgresError) -> [Int64: [Asset]] {
    var assets: [Int64: [Asset]] = [:]
    for row in rows { assets[try row.get("asset_set_id"), default: []].append(try Asset(row)) }
    return assets
  }

  /// Drops the sets of deleted posts or images, and cancels the jobs that were enqueued for them since their jobs were cancelled: what
  /// another transaction submits is seen once it is deleted.
  package static func release(_ rows: Rows, _ session: Session) throws {
    var jobs: [PublicID] = []
    for row in rows {
      if let job = try row.get("job", as: String?.self).flatMap({ PublicID($0) }) { jobs.append(job) }
      for column in ["asset_set_id", "source_set_id"] {
        if let set = try row.get(column, as: Int64?.self) { try dropSet(set, session) }
      }
    }
    try JobQueue.cancelFree(jobs, session)
  }

  /// Reads an asset of any set, including sources; nil if the viewer sees no post or image that has it.
  package static func find(_ id: PublicID, for viewer: Viewer, _ session: Session) throws -> StoredAsset? {
    // A client that acts as no user sees every asset: one statement is enough.
    if viewer != .unrestricted,
      try session.execute(Store.statements["sees_asset"], .text(id.description), viewer.parameter).isEmpty
    {
      return nil
    }
    guard let row = try session.execute(Store.statements["asset"], .text(id.description)).first else { return nil }
    return try StoredAsset(try Asset(row), row)
  }

  package static func list(ofSet set: Int64, _ session: Session) throws(PostgresError) -> [Asset] {
    try list(ofSets: [set], session)[set] ?? []
  }

  /// Removes the given sets that are orphans: no post or image refers to them, they were not replaced and are not kept.
  /// It releases their blobs for `collectReleased`, and returns the number of sets.
  ///
  /// A set and the reference to it are written in one transaction: a visible set without a reference never gets one.
  package static func dropOrphans(_ sets: [Int64], _ session: Session) throws(PostgresError) -> Int {
    let rows = try session.execute(Collecting.statements["orphan_sets"], .integers(sets))
    for row in rows { try dropSet(try row.get("id"), session) }
    return rows.count
  }

  /// Removes the sets that contain a blob, were replaced and are not kept, also within the grace period. It releases
  /// their blobs for `collectReleased`, and returns the number of sets.
  package static func dropRetired(containing hash: SHA256Digest, _ session: Session) throws(PostgresError) -> Int {
    try dropRetired(session.execute(Collecting.statements["retired_sets_of_blob"], .bytes(hash.bytes)), session)
  }
}
