import FoundationEssentials
import Model
import Postgres
import Queue

/// Posts and assets from rows.
extension Store {
  /// Reads rows of the statements `post` and `posts`, and adds the current assets and the jobs of the posts.
  func posts(of rows: [Row], _ session: Session) throws -> [Post] {
    var sets: [Int64] = []
    for row in rows { if let set = try row.get("asset_set_id", as: Int64?.self) { sets.append(set) } }
    let assets = try self.assets(ofSets: sets, session)
    let jobs = try self.jobs(of: rows, session)
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
      counts: PostCounts(
        comments: try row.get("comment_count"), reactions: try row.get("reaction_count"),
        likes: try row.get("like_count")),
      reasons: try row.json("reasons"),
      job: job.flatMap { jobs[$0] }, assets: assets,
      photos: photos.sorted { $0.key < $1.key }.map(\.value))
  }

  /// Reads the jobs of rows with a column `job`, with one statement.
  func jobs(of rows: some Sequence<Row>, _ session: Session) throws -> [PublicID: JobSummary] {
    let ids = try rows.compactMap { row in try row.get("job", as: String?.self).flatMap { PublicID($0) } }
    return Dictionary(try JobQueue.find(ids, session).map { ($0.publicID, $0.summary) }) { first, _ in first }
  }

  func assets(ofSets sets: [Int64], _ session: Session) throws(PostgresError) -> [Int64: [Asset]] {
    guard !sets.isEmpty else { return [:] }
    var assets: [Int64: [Asset]] = [:]
    for row in try session.execute(Self.statements["assets_of_sets"], .integers(sets)) {
      assets[try row.get("asset_set_id"), default: []].append(try Asset(row))
    }
    return assets
  }
}
