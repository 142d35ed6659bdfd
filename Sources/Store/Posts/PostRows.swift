import FoundationEssentials
import Model
import Postgres
import Queue

/// Posts and assets from rows.
extension Store {
  /// Reads rows of the statements `post` and `posts`, and adds the current assets and the jobs of the posts.
  func posts(of rows: [Row], _ session: Session) throws -> [Post] {
    let (assets, jobs) = try assetsAndJobs(of: rows, session)
    return try rows.map { row in
      let set = try row.get("asset_set_id", as: Int64?.self)
      return try post(row, set.flatMap { assets[$0] } ?? [], jobs)
    }
  }

  private func post(_ row: Row, _ all: [Asset], _ jobs: [PublicID: JobSummary]) throws -> Post {
    var assets: [Role: Asset] = [:]
    var photos: [Int: [Role: Asset]] = [:]
    for asset in all {
      if asset.role.isVariant {
        photos[asset.place, default: [:]][asset.role] = asset
      } else {
        assets[asset.role] = asset
      }
    }
    let job = try row.get("job", as: String?.self).flatMap { PublicID($0) }
    return Post(
      id: try row.publicID("public_id"), draft: try PostDraft(row), status: try row.enumValue("status"),
      createdAt: .init(microseconds: try row.get("created_at")),
      updatedAt: .init(microseconds: try row.get("updated_at")),
      counts: PostCounts(
        comments: try row.get("comment_count"), reactions: try row.get("reaction_count"),
        likes: try row.get("like_count")),
      punctuality: try row.get("window_state", as: String?.self).flatMap { Punctuality.State(rawValue: $0) }.map {
        Punctuality(state: $0, lateSeconds: try row.get("late_seconds"))
      },
      offsetSeconds: try row.get("offset_seconds"),
      reasons: try row.reasons(),
      job: job.flatMap { jobs[$0] }, assets: assets,
      photos: photos.sorted { $0.key < $1.key }.map(\.value))
  }

  /// Reads the assets and the jobs of rows with the columns `asset_set_id` and `job`, in one round trip.
  func assetsAndJobs(
    of rows: some Sequence<Row>, _ session: Session
  ) throws -> (assets: [Int64: [Asset]], jobs: [PublicID: JobSummary]) {
    let sets = try rows.compactMap { try $0.get("asset_set_id", as: Int64?.self) }
    let ids = try rows.compactMap { row in try row.get("job", as: String?.self).flatMap { PublicID($0) } }
    var calls: [(statement: Statement, parameters: [Parameter])] = []
    if !sets.isEmpty { calls.append((Self.statements["assets_of_sets"], [.integers(sets)])) }
    if !ids.isEmpty { calls.append(JobQueue.finding(ids)) }
    let results = try session.execute(together: calls)
    let jobs = try ids.isEmpty ? [] : results.last.map { try JobQueue.found($0, ids, session) } ?? []
    return (
      try sets.isEmpty ? [:] : Self.assets(results[0]),
      Dictionary(jobs.map { ($0.publicID, $0.summary) }) { first, _ in first }
    )
  }

  func assets(ofSets sets: [Int64], _ session: Session) throws(PostgresError) -> [Int64: [Asset]] {
    try sets.isEmpty ? [:] : Self.assets(session.execute(Self.statements["assets_of_sets"], .integers(sets)))
  }

  private static func assets(_ rows: Rows) throws(PostgresError) -> [Int64: [Asset]] {
    var assets: [Int64: [Asset]] = [:]
    for row in rows { assets[try row.get("asset_set_id"), default: []].append(try Asset(row)) }
    return assets
  }
}
