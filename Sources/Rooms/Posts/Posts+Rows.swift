import FoundationEssentials
import Model
import Postgres
import Queue
import Store

/// Posts from rows.
extension Posts {
  /// Reads rows of the statements `post` and `posts`, and adds the current assets and the jobs of the posts.
  static func read(of rows: [Row], for viewer: Viewer, _ session: Session) throws -> [Post] {
    let (assets, jobs) = try Assets.assetsAndJobs(of: rows, session)
    return try rows.map { row in
      let set = try shows(row, viewer) ? row.get("asset_set_id", as: Int64?.self) : nil
      return try post(row, set.flatMap { assets[$0] } ?? [], jobs)
    }
  }

  /// Whether the viewer sees the current set of the post: the fragment `shows_media`.
  private static func shows(_ row: Row, _ viewer: Viewer) throws -> Bool {
    guard let look = try row.get("look", as: String?.self), try !viewer.owns(row.get("author", as: String.self)) else {
      return true
    }
    return look == LookAudience.viewers.rawValue && viewer != .stranger
  }

  private static func post(_ row: Row, _ all: [Asset], _ jobs: [PublicID: JobSummary]) throws -> Post {
    var assets: [Role: Asset] = [:]
    var photos: [Int: [Role: Asset]] = [:]
    for asset in all {
      if asset.role.isOfPhoto {
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
}
