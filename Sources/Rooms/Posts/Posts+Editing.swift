package import Kit
package import Model
package import Postgres
import Queue
import Store

/// The changes to posts, and their deletion. Each function runs in a transaction of the caller's.
///
/// Call `collectReleased` after the commit of a deletion.
extension Posts {
  /// The result of a change.
  package enum Changed: Sendable, Hashable {
    case changed
    case notFound
    /// A post without media needs a caption or a title.
    case missingText
  }

  /// Changes the texts, the visibility, the place, the location and the foreground of a post of the viewer's.
  ///
  /// If the change exchanges the foreground of a moment, its outputs are made again (`remake`).
  /// If the change restricts the visibility or raises the age, the assets get new ids, so that URLs given out before become invalid.
  /// If the definition holds posts and their author changes the texts, the post is held again.
  ///
  /// - Parameter check: receives the locked post before the change; an error from it prevents the change.
  /// - Throws: `OwnershipRefusal`.
  package static func change(
    _ id: PublicID, for viewer: Viewer, _ change: PostChange, _ session: Session,
    check: (Post) throws -> Void = { _ in }
  ) throws -> Changed {
    guard let locked = try lock(id, for: viewer, session) else { return .notFound }
    try viewer.require(owner: locked.author)
    let rows = try session.execute(Store.statements["post"], .text(id.description), viewer.parameter)
    guard let row = rows.first else { return .notFound }
    try find(id, for: viewer, session).map(check)
    let before = try PostDraft(row)
    let draft = change.applied(to: before)
    let hasMedia = try row.get("job", as: String?.self) != nil
    if !hasMedia, (draft.title ?? "").isEmpty, (draft.caption ?? "").isEmpty { return .missingText }
    let changed = try session.execute(
      Self.statements["change_post"], [.text(id.description)] + PostColumn.changeable.map { try $0.value(draft) }
    ).single()
    if draft.isNarrower(than: before) { try renameMedia(of: row.get("id"), session) }
    if draft.foreground != before.foreground { try Reprocessing.remake(id, session) }
    // What was decided about were other words.
    if viewer != .unrestricted, try changed.get("is_to_be_held"), !draft.hasTexts(of: before) {
      try restrict(id, .hold, session)
    }
    return .changed
  }

  /// Locks a post until the transaction ends; nil if the viewer sees no such post.
  static func lock(
    _ id: PublicID, for viewer: Viewer, _ session: Session
  ) throws(PostgresError) -> (number: Int64, author: String)? {
    let rows = try session.execute(Store.statements["lock_post"], .text(id.description), viewer.parameter)
    guard let row = rows.first else { return nil }
    return (try row.get("id"), try row.get("author"))
  }

  /// Gives the media of a post other names.
  static func renameMedia(of number: Int64, _ session: Session) throws {
    let assets = try session.execute(Self.statements["assets_of_post"], .integer(number)).map { row in
      "\(try row.get("id", as: Int64.self))"
    }
    guard !assets.isEmpty else { return }
    let names = assets.map { _ in PublicID.now().description }
    try session.execute(Self.statements["rename_assets"], .texts(assets), .texts(names))
  }

  /// Deletes a post of the viewer's with its comments, its reactions and all of their media; false if the viewer sees no
  /// such post. Their jobs are cancelled and publish nothing.
  ///
  /// Of a post with many likes, comments or reactions these go later, in pages, by a job: one transaction would hold its locks for as long as
  /// all of them take. The post itself is gone with the commit.
  ///
  /// - Parameter check: receives the locked post before the deletion; the caller must roll back if it throws.
  /// - Throws: `OwnershipRefusal`.
  package static func delete(
    _ id: PublicID, for viewer: Viewer, _ session: Session, check: (Post) throws -> Void = { _ in }
  ) throws -> Bool {
    // Before the jobs are cancelled: the post of another user keeps its job. The author of a post never changes.
    let seen = try session.execute(Self.statements["author_of_post"], .text(id.description), viewer.parameter)
    guard let author = try seen.first?.get("author", as: String.self) else { return false }
    try viewer.require(owner: author)
    let cancelled = try JobControl.cancelJobs(
      session.execute(Self.statements["jobs_of_post"], .text(id.description)), session)
    // What the viewer saw goes, also if the viewer may not see it any more: it has lost its jobs.
    guard let (number, _) = try lock(id, for: .unrestricted, session) else { return false }
    try (find(id, for: viewer, session) ?? find(id, for: .unrestricted, session)).map(check)
    let found = try session.execute(
      Self.statements["has_many_rows"], .integer(number), .text(id.description), .integer(ForgettingStep.rows))
    if try found.single().get("has_many") {
      try JobControl.failDeleted(jobs: cancelled, session)
      try detach(id, locked: number, session)
    } else {
      try drop(locked: number, session)
    }
    return true
  }

  /// Takes a locked post from everybody with the media that it has. From then on it belongs to a user who has nothing else, and whose
  /// deletion deletes the rest: its job is enqueued by the same transaction, and each batch begins with what is left.
  private static func detach(_ id: PublicID, locked number: Int64, _ session: Session) throws {
    // The author, then the place, then the cases, as everywhere.
    try session.execute(Self.statements["lock_places_of_posts"], .texts([id.description]))
    try session.execute(Self.statements["leave_place"], .integer(number))
    let heir = heir(of: id)
    let sets = try session.execute(
      Self.statements["detach_post"],
      [.integer(number), .text(PublicID.now().description)] + PostColumn.cleared(author: heir))
    try session.execute(Self.statements["drop_cases_of_post"], .integer(number))
    try Assets.release(sets, session)
    _ = try Forgetting.begin(heir, request: nil, session, revoking: { _ in [] }, check: {})
    try JobQueue.notify(queue: JobKinds.taskQueue, session)
  }

  /// The author of what is left of a deleted post, as the trigger `post_counts` and `check_relations` have it. No user of an app has such an id.
  private static func heir(of post: PublicID) -> String { heirPrefix + post.description }

  private static let heirPrefix = "deleted post "

  /// The id of the deleted post whose rest belongs to a user; nil: to any other user.
  static func deletedPost(of heir: String) -> String? {
    heir.hasPrefix(heirPrefix) ? String(heir.dropFirst(heirPrefix.count)) : nil
  }

  /// Deletes a locked post with its comments, its reactions and all of their media.
  static func drop(locked number: Int64, _ session: Session) throws {
    try Assets.release(session.execute(Self.statements["drop_reactions"], .integer(number)), session)
    try Assets.release(session.execute(Self.statements["drop_post"], .integer(number)), session)
  }
}

extension Posts {
  package static let record = RecordKind(
    .post, author: "post.author", missing: .postNotFound, { "The post \($0) does not exist." },
    lock: { post, viewer, session in
      try session.execute(People.statements["lock_target_post"], .text(post.id), viewer.parameter).first
        .map { RecordKind.Locked(owner: try $0.get("author")) }
    },
    exists: { try exists($0, for: $1, $2) },
    setHidden: { post, _, isHidden, session in
      if let id = post.publicID { try restrict(id, isHidden ? .hide : nil, session) }
    })
}
