package import Model
package import Postgres
import Queue

/// The changes to posts, and the deletion of posts and images. Each function runs in a transaction of the caller's.
///
/// Call `collectReleased` after the commit of a deletion.
extension Store {
  /// The result of a change.
  package enum Changed: Sendable, Hashable {
    case changed
    case notFound
    /// A post without media needs a caption or a title.
    case missingText
  }

  /// Changes the texts, the visibility and the place of a post.
  ///
  /// If the change restricts the visibility, the assets get new ids, so that URLs given out before become invalid.
  ///
  /// - Parameter check: receives the locked post before the change; an error from it prevents the change.
  package func change(
    post id: PublicID, _ change: PostChange, _ session: Session, check: (Post) throws -> Void = { _ in }
  ) throws -> Changed {
    guard try !session.execute(Self.statements["lock_post"], .text(id.description)).isEmpty,
      let row = try session.execute(Self.statements["post"], .text(id.description)).first
    else { return .notFound }
    try post(id, session).map(check)
    let before = try PostDraft(row)
    let draft = change.applied(to: before)
    let hasMedia = try row.get("job", as: String?.self) != nil
    if !hasMedia, (draft.title ?? "").isEmpty, (draft.caption ?? "").isEmpty { return .missingText }
    try session.execute(
      Self.statements["change_post"], [.text(id.description)] + PostColumn.changeable.map { $0.value(draft) })
    if draft.visibility < before.visibility { try renameMedia(ofPost: row.get("id"), session) }
    return .changed
  }

  private func renameMedia(ofPost number: Int64, _ session: Session) throws {
    let assets = try session.execute(Self.statements["assets_of_post"], .integer(number)).map { row in
      "\(try row.get("id", as: Int64.self))"
    }
    guard !assets.isEmpty else { return }
    let names = assets.map { _ in PublicID.now().description }
    try session.execute(Self.statements["rename_assets"], .texts(assets), .texts(names))
  }

  /// Deletes a post with its comments, its reactions and all of their media; false if the post does not exist. Their
  /// jobs are cancelled and publish nothing.
  ///
  /// - Parameter check: receives the locked post before the deletion; the caller must roll back if it throws.
  package func delete(post id: PublicID, _ session: Session, check: (Post) throws -> Void = { _ in }) throws -> Bool {
    try cancelJobs(session.execute(Self.statements["jobs_of_post"], .text(id.description)), session)
    guard let row = try session.execute(Self.statements["lock_post"], .text(id.description)).first else { return false }
    try post(id, session).map(check)
    let number: Int64 = try row.get("id")
    try dropSets(session.execute(Self.statements["drop_reactions"], .integer(number)), session)
    try dropSets(session.execute(Self.statements["drop_post"], .integer(number)), session)
    return true
  }

  /// Deletes an image, and updates the reaction count of its post; false if no image of this kind and owner has this
  /// id.
  package func delete(
    image id: PublicID, _ kind: ImageKind, of owner: String, _ session: Session
  ) throws -> Bool {
    guard let row = try session.execute(Self.statements["image"], .text(id.description)).first,
      try row.enumValue("kind") == kind, try row.get("owner", as: String.self) == owner
    else { return false }
    if let job = try row.get("job", as: String?.self).flatMap({ PublicID($0) }) {
      _ = try JobQueue.cancel(job, session)
    }
    if kind == .reaction { try session.execute(Self.statements["lock_post"], .text(owner)) }
    // The job is locked: the status no longer changes.
    guard let now = try session.execute(Self.statements["image"], .text(id.description)).first else { return false }
    let isReady: Bool = try now.enumValue("status") == ImageStatus.ready
    if kind == .reaction, isReady {
      try session.execute(Self.statements["count_reactions"], .text(id.description), .integer(-1))
    }
    let dropped = try session.execute(Self.statements["drop_image"], .text(id.description))
    try dropSets(dropped, session)
    return !dropped.isEmpty
  }

  /// Deletes all images of an owner, including those that are processing; false if there were none.
  package func deleteImages(_ kind: ImageKind, of owner: String, _ session: Session) throws -> Bool {
    try cancelJobs(
      session.execute(Self.statements["jobs_of_images"], .text(kind.rawValue), .text(owner)), session)
    let dropped = try session.execute(Self.statements["drop_images"], .text(kind.rawValue), .text(owner))
    try dropSets(dropped, session)
    return !dropped.isEmpty
  }

  private func cancelJobs(_ rows: Rows, _ session: Session) throws {
    for row in rows { _ = try JobQueue.cancel(try row.publicID("job"), session) }
  }

  private func dropSets(_ rows: Rows, _ session: Session) throws {
    for row in rows {
      for column in ["asset_set_id", "source_set_id"] {
        if let set = try row.get(column, as: Int64?.self) { try dropSet(set, session) }
      }
    }
  }
}
