import Model
import Postgres
import Store

/// What keeps posts from others than their authors.
extension Posts {
  /// How a post is kept from all but its author.
  enum Restriction: String {
    case hold
    case hide
  }

  /// Holds, hides or shows a locked post, and notifies its author; rooms learn that it is held. URLs of its media that were given out
  /// before become invalid if others no longer see it.
  static func restrict(_ post: PublicID, _ restriction: Restriction?, _ session: Session) throws {
    let before = try find(post, for: .unrestricted, session)?.status
    let row = try session.execute(
      Self.statements["moderate_post"], .text(post.description), .text(restriction?.rawValue)
    ).single()
    let status: PostStatus = try row.enumValue("status")
    guard status != before else { return }
    if before == .ready { try renameMedia(of: row.get("id"), session) }
    if status == .held { for room in [any Room.Type].all { try room.note(status, of: post, session) } }
    try Store.notify(row.get("author"), of: status, post, session)
  }
}
