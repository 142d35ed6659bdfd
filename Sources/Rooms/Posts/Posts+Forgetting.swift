import Model
import Postgres
import Queue
package import Store

/// What the deletion of a user deletes of posts, and the check of their counters.
extension Posts {
  private static let batch = 20

  package static var checks: [RowCheck] {
    [
      RowCheck(
        "post", statements["check_posts"], repair: [statements["lock_counted_post"], statements["correct_post"]])
    ]
  }

  package static var forgetting: [ForgettingStep] { [ForgettingStep(forget)] }

  /// Deletes posts of a user with their media, and before that their comments, reactions and likes and where collections have them, of which
  /// there may be many. Their jobs are cancelled.
  private static func forget(_ user: String, _ session: Session) throws -> Bool {
    let posts = try session.execute(statements["posts_of_user"], .text(user), .integer(batch)).map {
      try $0.publicID("public_id").description
    }
    guard !posts.isEmpty else { return false }
    let ids = Parameter.texts(posts)
    // The jobs before the posts.
    let cancelled = try JobControl.cancelJobs(session.execute(statements["jobs_of_posts"], ids), session)
    let locked = Array(try session.execute(statements["lock_posts"], ids))
    let rows = ForgettingStep.rows
    // The likes of a detached post have its former id.
    var targets = posts
    if let former = deletedPost(of: user) { targets.append(former) }
    guard try !forgetItems(ofPosts: ids, session),
      try session.execute(statements["drop_comments_of_posts"], ids, .integer(rows)).affected < rows,
      try !Images.forgetReactions(toPosts: ids, session),
      try session.execute(statements["drop_relations_to_posts"], .texts(targets), .integer(rows)).affected < rows
    else {
      try JobControl.failDeleted(jobs: cancelled, session)
      return true
    }
    let locks = [
      statements["lock_collections_of_posts"], statements["lock_places_of_posts"], statements["lock_activity_of_posts"],
    ]
    for lock in locks { try session.execute(lock, ids) }
    for row in locked { try drop(locked: row.get("id"), session) }
    return true
  }

  /// Takes posts out of the next collections, and returns whether there may be more.
  private static func forgetItems(ofPosts posts: Parameter, _ session: Session) throws -> Bool {
    let items = try session.execute(statements["items_of_posts"], posts, .integer(ForgettingStep.rows))
      .map { try $0.get("id", as: Int64.self) }
    guard items.count == ForgettingStep.rows else { return false }
    try session.execute(statements["lock_collections_of_items"], .integers(items))
    try session.execute(statements["drop_items"], .integers(items))
    return true
  }
}
