package import Model
package import Postgres

/// What the rooms and the author of a post learn of its status.
extension Store {
  /// Says what became of the media of a post: to the rooms, and then to its author.
  func announce(_ status: PostStatus, of post: PublicID, by author: String, _ session: Session) throws {
    for room in rooms { try room.note(status, of: post, session) }
    try Self.notify(author, of: status, post, session)
  }

  /// Notifies the author of a post of a status.
  package static func notify(
    _ author: String, of status: PostStatus, _ post: PublicID, _ session: Session
  ) throws(PostgresError) {
    guard let kind = UserEvent.Kind(status) else { return }
    try notify(author, of: kind, by: nil, post: post, session)
  }
}
