import FoundationEssentials
package import Model
package import Postgres
import Queue

/// Comments. The comment count of what they are on changes in the same transaction.
extension Store {
  /// Inserts a comment, and notifies the author of a post; nil if the viewer sees no such thing.
  ///
  /// - Throws: `ForgottenRefusal`, `SuspendedRefusal`.
  package func comment(
    on subject: CommentSubject, for viewer: Viewer, author: String, text: String, _ session: Session
  ) throws -> Comment? {
    try requireUsers(author, in: session)
    guard let owner = try lock(subject, for: viewer, session) else { return nil }
    try count(1, on: subject, session)
    let inserted = try session.execute(
      Self.statements["insert_comment"], .text(PublicID.now().description), .text(author), .text(text),
      .text(subject.post?.description), .text(subject.place), .text(subject.collection?.description))
    let comment = try Self.comment(inserted.single())
    if let post = subject.post, let user = owner.user {
      try notify(user, of: .comment, by: author, post: post, subject: comment.id, session)
    }
    return comment
  }

  /// Reads a comment; nil if the viewer does not see what it is on, or there is none.
  package func comment(
    _ id: PublicID, on subject: CommentSubject, for viewer: Viewer, _ session: Session
  ) throws -> Comment? {
    try session.snapshot { session in
      guard try sees(subject, viewer, session) else { return nil }
      return try read(id, on: subject, for: viewer, session)
    }
  }

  /// Reads a page of comments, the newest first; nil if the viewer does not see what they are on.
  package func comments(
    on subject: CommentSubject, for viewer: Viewer, _ page: PageRequest, _ session: Session
  ) throws -> Page<Comment>? {
    try session.snapshot { session in
      guard try sees(subject, viewer, session) else { return nil }
      let rows = try session.execute(
        Self.statement(Self.statements["comments"], on: subject),
        [subject.parameter] + page.parameters + [viewer.parameter])
      return try Page(rows, page) { try $0.map(Self.comment) }
    }
  }

  /// Deletes a comment of the viewer's, or on a post or a collection of the viewer's; false if the viewer sees no such comment.
  ///
  /// - Parameter check: receives the locked comment; the caller must roll back if it throws.
  /// - Throws: `OwnershipRefusal`, after which the caller must roll back.
  package func delete(
    comment: PublicID, on subject: CommentSubject, for viewer: Viewer, _ session: Session,
    check: (Comment) throws -> Void
  ) throws -> Bool {
    guard let owner = try lock(subject, for: viewer, session),
      // The author also deletes what a blocked user wrote.
      let comment = try read(comment, on: subject, for: viewer.owns(owner.user) ? .unrestricted : viewer, session)
    else { return false }
    try viewer.require(owner: comment.author, owner.user)
    try check(comment)
    try session.execute(Self.statements["drop_comment"], .text(comment.id.description))
    if !comment.isHidden { try count(-1, on: subject, session) }
    return true
  }

  static func comment(_ row: Row) throws -> Comment {
    let subject: CommentSubject =
      if let place = try row.get("place_id", as: String?.self) {
        .place(place)
      } else if let collection = try row.get("collection", as: String?.self).flatMap({ PublicID($0) }) {
        .collection(collection)
      } else {
        .post(try row.publicID("post"))
      }
    return Comment(
      id: try row.publicID("public_id"), subject: subject, author: try row.get("author"), text: try row.get("text"),
      createdAt: .init(microseconds: try row.get("created_at")), isHidden: try row.get("is_hidden"))
  }

  private func read(
    _ id: PublicID, on subject: CommentSubject, for viewer: Viewer, _ session: Session
  ) throws -> Comment? {
    try session.execute(
      Self.statement(Self.statements["comment"], on: subject), subject.parameter, .text(id.description),
      viewer.parameter
    ).first.map(Self.comment)
  }
}

/// What differs between the things that users comment on.
extension Store {
  /// The user who may delete comments of others; nil: there is none.
  struct Owner { let user: String? }

  /// Whether the viewer sees what comments are on.
  private func sees(_ subject: CommentSubject, _ viewer: Viewer, _ session: Session) throws -> Bool {
    switch subject {
    case .post(let id): try hasPost(id.description, for: viewer, session)
    case .place(let id): try !session.execute(Self.statements["has_place"], .text(id), viewer.parameter).isEmpty
    case .collection(let id): try collection(id, for: viewer, session) != nil
    }
  }

  /// Locks what comments are on, and returns its owner; nil if the viewer does not see it.
  func lock(_ subject: CommentSubject, for viewer: Viewer, _ session: Session) throws -> Owner? {
    switch subject {
    case .post(let id):
      let rows = try session.execute(Self.statements["lock_target_post"], .text(id.description), viewer.parameter)
      return try rows.first.map { Owner(user: try $0.get("author")) }
    case .place(let id):
      let locked = try session.execute(Self.statements["lock_known_place"], .text(id), viewer.parameter)
      return locked.isEmpty ? nil : Owner(user: nil)
    case .collection(let id):
      return try lock(collection: id, for: viewer, session).map { Owner(user: $0.author) }
    }
  }

  func count(_ step: Int, on subject: CommentSubject, _ session: Session) throws {
    let statement =
      switch subject {
      case .post: Self.statements["count_comments_of_post"]
      case .place: Self.statements["count_comments_of_place"]
      case .collection: Self.statements["count_comments_of_collection"]
      }
    try session.execute(statement, subject.parameter, .integer(step))
  }

  /// Returns a statement with the condition that comments are on a kind of thing, which an index of its own serves.
  private static func statement(_ statement: Statement, on subject: CommentSubject) -> Statement {
    let (kind, condition) =
      switch subject {
      case .post: ("post", "comment.post_id = (SELECT id FROM post WHERE public_id = $1::uuid)")
      case .place: ("place", "comment.place_id = $1")
      case .collection:
        ("collection", "comment.collection_id = (SELECT id FROM collection WHERE public_id = $1::uuid)")
      }
    return Statement(name: "\(statement.name).\(kind)", text: statement.text.replacing("SUBJECT", with: condition))
  }
}

extension CommentSubject {
  fileprivate var post: PublicID? { if case .post(let id) = self { id } else { nil } }

  fileprivate var place: String? { if case .place(let id) = self { id } else { nil } }

  fileprivate var collection: PublicID? { if case .collection(let id) = self { id } else { nil } }

  fileprivate var parameter: Parameter {
    switch self {
    case .post(let id), .collection(let id): .text(id.description)
    case .place(let id): .text(id)
    }
  }
}
