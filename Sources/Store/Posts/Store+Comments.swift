import FoundationEssentials
package import Model
package import Postgres
import Queue

/// Comments. The comment count of a post changes in the same transaction.
extension Store {
  /// Inserts a comment on a post, and notifies the author of the post; nil if the viewer sees no such post.
  ///
  /// - Throws: `ForgottenRefusal`.
  package func comment(
    on post: PublicID, for viewer: Viewer, author: String, text: String, _ session: Session
  ) throws -> Comment? {
    try requireUsers(author, in: session)
    let inserted = try session.execute(
      Self.statements["insert_comment"], .text(post.description), .text(PublicID.now().description), .text(author),
      .text(text), viewer.parameter)
    guard let row = inserted.first else { return nil }
    let comment = try Self.comment(row)
    try notify(row.get("post_author"), of: .comment, by: author, post: post, subject: comment.id, session)
    return comment
  }

  /// Reads a comment on a post; nil if the viewer sees no post with this comment.
  package func comment(
    _ id: PublicID, on post: PublicID, for viewer: Viewer, _ session: Session
  ) throws -> Comment? {
    try session.execute(
      Self.statements["comment"], .text(post.description), .text(id.description), viewer.parameter
    ).first.map(Self.comment)
  }

  /// Reads a page of a post's comments, the newest first; nil if the viewer sees no such post.
  package func comments(
    on post: PublicID, for viewer: Viewer, _ page: PageRequest, _ session: Session
  ) throws -> Page<Comment>? {
    try session.snapshot { session in
      guard try hasPost(post.description, for: viewer, session) else { return nil }
      let end = page.after ?? PageCursor(time: 253_402_300_799_000_000, id: 0)
      let rows = Array(
        try session.execute(
          Self.statements["comments"], .text(post.description), .timestamp(microseconds: end.time), .integer(end.id),
          .integer(page.limit + 1), viewer.parameter))
      let shown = rows.prefix(page.limit)
      return Page(
        items: try shown.map(Self.comment), next: try rows.count > page.limit ? shown.last.map(Self.cursor) : nil)
    }
  }

  /// Deletes a comment of the viewer's, or on a post of the viewer's; false if the viewer sees no post with this comment.
  ///
  /// - Parameter check: receives the locked comment; the caller must roll back if it throws.
  /// - Throws: `OwnershipRefusal`, after which the caller must roll back.
  package func delete(
    comment: PublicID, on post: PublicID, for viewer: Viewer, _ session: Session, check: (Comment) throws -> Void
  ) throws -> Bool {
    let locked = try session.execute(Self.statements["lock_post"], .text(post.description), viewer.parameter)
    guard let row = locked.first else { return false }
    let number: Int64 = try row.get("id")
    let dropped = try session.execute(
      Self.statements["drop_comment"], .integer(number), .text(comment.description), .text(post.description))
    guard let comment = try dropped.first.map(Self.comment) else { return false }
    try viewer.require(owner: comment.author, try row.get("author"))
    try check(comment)
    try session.execute(Self.statements["count_comments"], .integer(number), .integer(-1))
    return true
  }

  static func comment(_ row: Row) throws -> Comment {
    Comment(
      id: try row.publicID("public_id"), post: try row.publicID("post"), author: try row.get("author"),
      text: try row.get("text"), createdAt: .init(microseconds: try row.get("created_at")))
  }
}
