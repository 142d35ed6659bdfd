import FoundationEssentials
package import Model
package import Postgres
import Queue

/// Comments. The comment count of a post changes in the same transaction.
extension Store {
  /// Inserts a comment on a post; nil if the post does not exist.
  package func comment(
    on post: PublicID, author: String, text: String, _ session: Session
  ) throws -> Comment? {
    try session.execute(
      Self.statements["insert_comment"], .text(post.description), .text(PublicID.now().description), .text(author),
      .text(text)
    ).first.map(Self.comment)
  }

  /// Reads a comment on a post; nil if the post has no comment with this id.
  package func comment(_ id: PublicID, on post: PublicID, _ session: Session) throws -> Comment? {
    try session.execute(Self.statements["comment"], .text(post.description), .text(id.description)).first
      .map(Self.comment)
  }

  /// Reads a page of a post's comments, the newest first; nil if the post does not exist.
  package func comments(on post: PublicID, _ page: PageRequest, _ session: Session) throws -> Page<Comment>? {
    try session.snapshot { session in
      guard try !session.execute(Self.statements["post"], .text(post.description)).isEmpty else { return nil }
      let end = page.after ?? PageCursor(time: 253_402_300_799_000_000, id: 0)
      let rows = Array(
        try session.execute(
          Self.statements["comments"], .text(post.description), .timestamp(microseconds: end.time), .integer(end.id),
          .integer(page.limit + 1)))
      let shown = rows.prefix(page.limit)
      return Page(
        items: try shown.map(Self.comment), next: try rows.count > page.limit ? shown.last.map(Self.cursor) : nil)
    }
  }

  /// Deletes a comment; false if the post has no comment with this id.
  package func delete(comment: PublicID, on post: PublicID, _ session: Session) throws -> Bool {
    guard let row = try session.execute(Self.statements["lock_post"], .text(post.description)).first else {
      return false
    }
    let number: Int64 = try row.get("id")
    guard
      try !session.execute(Self.statements["drop_comment"], .integer(number), .text(comment.description)).isEmpty
    else { return false }
    try session.execute(Self.statements["count_comments"], .integer(number), .integer(-1))
    return true
  }

  private static func comment(_ row: Row) throws -> Comment {
    Comment(
      id: try row.publicID("public_id"), post: try row.publicID("post"), author: try row.get("author"),
      text: try row.get("text"), createdAt: .init(microseconds: try row.get("created_at")))
  }
}
