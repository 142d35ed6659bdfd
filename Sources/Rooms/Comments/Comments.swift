import CRoomsSQL
import FoundationEssentials
package import Kit
package import Model
package import Platform
package import Postgres
import Queue
package import Store

/// Comments. The comment count of what they are on changes in the same transaction.
package enum Comments: RecordRoom {
  package static let statements = Statements(
    topic: "comments", Store.fragments, RoomsSQL.Comments)

  package static let schema: [EmbeddedText] = [RoomsSQL.Comments_schema]

  package static var exports: [Export] {
    [Export("comments", statements["comments_by_user"]) { CommentResponse(try comment($0)) }]
  }

  package static var forgetting: [ForgettingStep] {
    [
      ForgettingStep(
        mention: "EXISTS (SELECT FROM comment WHERE author = $1)", found: statements["comments_of_user"],
        by: [
          statements["lock_posts_of_comments"], statements["lock_collections_of_comments"],
          statements["lock_places_of_comments"], statements["drop_comments"],
        ])
    ]
  }

  /// Inserts a comment, and notifies the author of a post; nil if the viewer sees no such thing.
  ///
  /// - Throws: `ForgottenRefusal`, `SuspendedRefusal`.
  package static func insert(
    on subject: RecordID, for viewer: Viewer, author: String, text: String, _ session: Session
  ) throws -> Comment? {
    try Store.requireUsers(author, in: session)
    guard let locked = try lock(subject, for: viewer, session) else { return nil }
    try count(1, on: subject, session)
    let inserted = try session.execute(
      Self.statements["insert_comment"],
      [.text(PublicID.now().description), .text(author), .text(text)]
        + Self.commented.map { Parameter.text($0 == subject.kind ? subject.id : nil) })
    let comment = try Self.comment(inserted.single())
    if subject.kind == .post, let owner = locked.owner {
      try Events.announce(.threadComment, by: author, on: subject, comment: comment.id, session)
      try Store.notify(owner, of: .comment, by: author, post: subject.publicID, subject: comment.id, session)
    }
    if subject.kind == .collection {
      try Events.announce(.collectionComment, by: author, on: subject, comment: comment.id, session)
    }
    return comment
  }

  /// Reads a comment; nil if the viewer does not see what it is on, or there is none.
  package static func find(
    _ id: PublicID, on subject: RecordID, for viewer: Viewer, _ session: Session
  ) throws -> Comment? {
    try session.snapshot { session in
      guard try sees(subject, viewer, session) else { return nil }
      return try read(id, on: subject, for: viewer, session)
    }
  }

  /// Reads a page of comments, the newest first; nil if the viewer does not see what they are on.
  package static func list(
    on subject: RecordID, for viewer: Viewer, _ page: PageRequest, _ session: Session
  ) throws -> Page<Comment>? {
    try session.snapshot { session in
      guard try sees(subject, viewer, session) else { return nil }
      let rows = try session.execute(
        Self.statement(Self.statements["comments"], on: subject),
        [.text(subject.id)] + page.parameters + [viewer.parameter])
      return try Page(rows, page) { try $0.map(Self.comment) }
    }
  }

  /// Deletes a comment of the viewer's, or on a post or a collection of the viewer's; false if the viewer sees no such comment.
  ///
  /// - Parameter check: receives the locked comment; the caller must roll back if it throws.
  /// - Throws: `OwnershipRefusal`, after which the caller must roll back.
  package static func delete(
    _ comment: PublicID, on subject: RecordID, for viewer: Viewer, _ session: Session,
    check: (Comment) throws -> Void
  ) throws -> Bool {
    guard let locked = try lock(subject, for: viewer, session),
      // The author also deletes what a blocked user wrote.
      let comment = try read(comment, on: subject, for: viewer.owns(locked.owner) ? .unrestricted : viewer, session)
    else { return false }
    try viewer.require(owner: comment.author, locked.owner)
    try check(comment)
    try session.execute(Self.statements["drop_comment"], .text(comment.id.description))
    if !comment.isHidden { try count(-1, on: subject, session) }
    return true
  }

  /// Changes the text of a comment of the viewer's; nil if the viewer sees no such comment.
  ///
  /// - Parameter check: receives the locked comment; the caller must roll back if it throws.
  /// - Throws: `OwnershipRefusal`, `SuspendedRefusal`, after which the caller must roll back.
  package static func change(
    _ comment: PublicID, on subject: RecordID, to text: String, for viewer: Viewer, _ session: Session,
    check: (Comment) throws -> Void
  ) throws -> Comment? {
    try Store.requireUsers(viewer.user, in: session)
    guard try lock(subject, for: viewer, session) != nil,
      let former = try read(comment, on: subject, for: viewer, session)
    else { return nil }
    try viewer.require(owner: former.author)
    try check(former)
    let changed = try session.execute(
      Self.statements["change_comment"], .text(comment.description), .text(text))
    return try changed.first.map(Self.comment)
  }

  static func comment(_ row: Row) throws -> Comment {
    guard let subject = try subject(row, "") else {
      throw PostgresError(.decoding, "a comment is on nothing")
    }
    return Comment(
      id: try row.publicID("public_id"), subject: subject, author: try row.get("author"), text: try row.get("text"),
      createdAt: Date(microseconds: try row.get("created_at")),
      editedAt: try row.get("edited_at", as: Int64?.self).map { Date(microseconds: $0) },
      isHidden: try row.get("is_hidden"))
  }

  /// The kinds of what users comment on.
  private static let commented: [RecordID.Kind] = [.post, .place, .collection]

  /// Reads what a comment is on from the columns with a prefix, of which one has a value; nil: none has.
  static func subject(_ row: Row, _ prefix: String) throws -> RecordID? {
    for kind in commented {
      if let id = try row.get(prefix + kind.name, as: String?.self) { return RecordID(kind, id) }
    }
    return nil
  }

  private static func read(
    _ id: PublicID, on subject: RecordID, for viewer: Viewer, _ session: Session
  ) throws -> Comment? {
    try session.execute(
      Self.statement(Self.statements["comment"], on: subject), .text(subject.id), .text(id.description),
      viewer.parameter
    ).first.map(Self.comment)
  }
}

/// What differs between the things that users comment on.
extension Comments {
  /// Whether the viewer sees what comments are on.
  private static func sees(_ subject: RecordID, _ viewer: Viewer, _ session: Session) throws -> Bool {
    switch subject.kind {
    case .post: try Posts.exists(subject.id, for: viewer, session)
    case .place: try !session.execute(Places.statements["has_place"], .text(subject.id), viewer.parameter).isEmpty
    default: try Collections.role(subject.id, for: viewer, session)??.isMember == true
    }
  }

  /// Locks what comments are on; nil if the viewer does not see them.
  private static func lock(_ subject: RecordID, for viewer: Viewer, _ session: Session) throws -> RecordKind.Locked? {
    let locked = try subject.lock(for: viewer, session)
    return locked?.admitsComments == true ? locked : nil
  }

  static func count(_ step: Int, on subject: RecordID, _ session: Session) throws {
    let statement =
      switch subject.kind {
      case .post: Self.statements["count_comments_of_post"]
      case .place: Self.statements["count_comments_of_place"]
      default: Self.statements["count_comments_of_collection"]
      }
    try session.execute(statement, .text(subject.id), .integer(step))
  }

  /// Returns a statement with the condition that comments are on a kind of thing, which an index of its own serves.
  private static func statement(_ statement: Statement, on subject: RecordID) -> Statement {
    let kind = subject.kind
    let value = kind == .place ? "$1" : "(SELECT id FROM \(kind.name) WHERE public_id = $1::uuid)"
    return statement.filled(kind.name, ["subject": "comment.\(kind.name)_id = \(value)"])
  }
}

extension Comments {
  /// A comment is locked with what it is on.
  package static let record = RecordKind(
    .comment, author: "comment.author", missing: .commentNotFound, { "There is no comment with the id \($0)." },
    lock: { found, viewer, session in
      let read = { try session.execute(statements["any_comment"], .text(found.id), viewer.parameter).first }
      guard let seen = try read().map(comment), try lock(seen.subject, for: viewer, session) != nil else { return nil }
      // It may have been deleted in the meantime.
      return try read().map { RecordKind.Locked(comment: try comment($0)) }
    },
    setHidden: { _, locked, isHidden, session in
      guard let comment = locked.comment else { return }
      let changed = try session.execute(statements["hide_comment"], .text(comment.id.description), .bool(isHidden))
      if changed.affected > 0 { try count(isHidden ? -1 : 1, on: comment.subject, session) }
    })
}
