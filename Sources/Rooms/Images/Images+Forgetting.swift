package import Kit
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
        try JobControl.cancelJobs(session.execute(statements["jobs_of_images_among"], ids), session)
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

extension Images {
  /// A reaction is locked with its post, whose count of reactions follows.
  package static let record = RecordKind(
    .image, author: "{maker(image)}", missing: .imageNotFound, { "The image \($0) does not exist." },
    lock: { image, viewer, session in
      guard let seen = try image.publicID.flatMap({ try find($0, for: viewer, session) }) else { return nil }
      if seen.draft.kind == .reaction {
        let post = try session.execute(
          People.statements["lock_target_post"], .text(seen.draft.owner), viewer.parameter)
        guard !post.isEmpty else { return nil }
      }
      return try session.execute(statements["lock_image"], .text(image.id)).isEmpty ? nil : RecordKind.Locked()
    },
    setHidden: { image, _, isHidden, session in
      let changed = try session.execute(statements["hide_image"], .text(image.id), .bool(isHidden))
      guard let row = changed.first, try row.enumValue("kind") == ImageKind.reaction,
        try row.enumValue("status") == ImageStatus.ready
      else { return }
      try session.execute(Store.statements["count_reactions"], .text(image.id), .integer(isHidden ? -1 : 1))
    })
}
