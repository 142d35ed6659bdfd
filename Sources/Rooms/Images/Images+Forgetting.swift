import Model
import Postgres
import Queue
package import Store

/// What the deletion of a user deletes of images. Their media go with them.
extension Images {
  private static let batch = 50

  package static var forgetting: [ForgettingStep] {
    let mention =
      "EXISTS (SELECT FROM image WHERE author = $1) OR EXISTS (SELECT FROM image WHERE kind = 'profile' AND owner = $1)"
    return [
      ForgettingStep(mention: mention) { user, session in
        let images = try session.execute(statements["images_of_user"], .text(user), .integer(batch)).map {
          try $0.publicID("public_id")
        }
        guard !images.isEmpty else { return false }
        let ids = Parameter.texts(images.map(\.description))
        _ = try JobQueue.cancel(
          session.execute(statements["jobs_of_images_among"], ids).map { try $0.publicID("job") }, session)
        try drop(ids, session)
        return true
      }
    ]
  }

  /// Deletes the next reactions to posts, and returns whether there may be more. The caller has cancelled their jobs.
  static func forgetReactions(toPosts posts: Parameter, _ session: Session) throws -> Bool {
    let images = try session.execute(statements["reactions_of_posts"], posts, .integer(batch))
      .map { try $0.publicID("public_id").description }
    guard images.count == batch else { return false }
    try drop(.texts(images), session)
    return true
  }

  /// Deletes images with their media, and updates the counts of reactions.
  private static func drop(_ ids: Parameter, _ session: Session) throws {
    try session.execute(statements["lock_posts_of_images"], ids)
    try session.execute(statements["uncount_reactions"], ids)
    try Assets.release(session.execute(statements["drop_images_among"], ids), session)
  }
}
