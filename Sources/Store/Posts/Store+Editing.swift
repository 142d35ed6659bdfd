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

  /// Changes the texts, the visibility, the place, the location and the foreground of a post of the viewer's.
  ///
  /// If the change exchanges the foreground of a moment, its outputs are made again (`remake`).
  /// If the change restricts the visibility, the assets get new ids, so that URLs given out before become invalid.
  /// If the definition holds posts and their author changes the texts, the post is held again.
  ///
  /// - Parameter check: receives the locked post before the change; an error from it prevents the change.
  /// - Throws: `OwnershipRefusal`.
  package func change(
    post id: PublicID, for viewer: Viewer, _ change: PostChange, _ session: Session,
    check: (Post) throws -> Void = { _ in }
  ) throws -> Changed {
    guard let locked = try lock(post: id, for: viewer, session) else { return .notFound }
    try viewer.require(owner: locked.author)
    let rows = try session.execute(Self.statements["post"], .text(id.description), viewer.parameter)
    guard let row = rows.first else { return .notFound }
    try post(id, for: viewer, session).map(check)
    let before = try PostDraft(row)
    let draft = change.applied(to: before)
    let hasMedia = try row.get("job", as: String?.self) != nil
    if !hasMedia, (draft.title ?? "").isEmpty, (draft.caption ?? "").isEmpty { return .missingText }
    let changed = try session.execute(
      Self.statements["change_post"], [.text(id.description)] + PostColumn.changeable.map { $0.value(draft) }
    ).single()
    if draft.visibility < before.visibility { try renameMedia(ofPost: row.get("id"), session) }
    if draft.foreground != before.foreground { try remake(id, session) }
    // What was decided about were other words.
    if viewer != .unrestricted, try changed.get("is_to_be_held"), !draft.hasTexts(of: before) {
      try moderate(id, .hold, session)
    }
    return .changed
  }

  /// Locks a post until the transaction ends; nil if the viewer sees no such post.
  private func lock(
    post id: PublicID, for viewer: Viewer, _ session: Session
  ) throws(PostgresError) -> (number: Int64, author: String)? {
    let rows = try session.execute(Self.statements["lock_post"], .text(id.description), viewer.parameter)
    guard let row = rows.first else { return nil }
    return (try row.get("id"), try row.get("author"))
  }

  func renameMedia(ofPost number: Int64, _ session: Session) throws {
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
  /// - Parameter check: receives the locked post before the deletion; the caller must roll back if it throws.
  /// - Throws: `OwnershipRefusal`.
  package func delete(
    post id: PublicID, for viewer: Viewer, _ session: Session, check: (Post) throws -> Void = { _ in }
  ) throws -> Bool {
    // Before the jobs are cancelled: the post of another user keeps its job. The author of a post never changes.
    let seen = try session.execute(Self.statements["author_of_post"], .text(id.description), viewer.parameter)
    guard let author = try seen.first?.get("author", as: String.self) else { return false }
    try viewer.require(owner: author)
    try cancelJobs(session.execute(Self.statements["jobs_of_post"], .text(id.description)), session)
    guard let (number, _) = try lock(post: id, for: viewer, session) else { return false }
    try post(id, for: viewer, session).map(check)
    try drop(lockedPost: number, session)
    return true
  }

  /// Deletes a locked post with its comments, its reactions and all of their media.
  func drop(lockedPost number: Int64, _ session: Session) throws {
    try release(session.execute(Self.statements["drop_reactions"], .integer(number)), session)
    try release(session.execute(Self.statements["drop_post"], .integer(number)), session)
  }

  /// Deletes an image of the viewer's, or a reaction to a post of the viewer's, and updates the reaction count of the
  /// post; false if the viewer sees no image of this kind and owner with this id.
  ///
  /// - Parameter check: receives the locked image; the caller must roll back if it throws.
  /// - Throws: `OwnershipRefusal`.
  package func delete(
    image id: PublicID, _ kind: ImageKind, of owner: String, for viewer: Viewer, _ session: Session,
    check: (StoredImage) throws -> Void
  ) throws -> Bool {
    let image = { try session.execute(Self.statements["image"], .text(id.description), viewer.parameter).first }
    guard let row = try image(), try row.enumValue("kind") == kind, try row.get("owner", as: String.self) == owner
    else { return false }
    try viewer.require(owner: try row.get("author"), try row.get("post_author"))
    if let job = try row.get("job", as: String?.self).flatMap({ PublicID($0) }) {
      _ = try JobQueue.cancel(job, session)
    }
    if kind == .reaction {
      try session.execute(Self.statements["lock_post"], .text(owner), Viewer.unrestricted.parameter)
    }
    // The job is locked: the status no longer changes.
    guard let now = try image() else { return false }
    try check(self.image(now, session))
    let isCounted = try now.enumValue("status") == ImageStatus.ready && !now.get("is_hidden", as: Bool.self)
    if kind == .reaction, isCounted {
      try session.execute(Self.statements["count_reactions"], .text(id.description), .integer(-1))
    }
    let dropped = try session.execute(Self.statements["drop_image"], .text(id.description))
    try release(dropped, session)
    return !dropped.isEmpty
  }

  /// Deletes all images of an owner, including those that are processing; false if there were none.
  ///
  /// - Parameter check: receives the current image, if there is one; the caller must roll back if it throws.
  /// - Throws: `OwnershipRefusal` unless the viewer is the user whose profile image it is, or the author of all images.
  package func deleteImages(
    _ kind: ImageKind, of owner: String, for viewer: Viewer, _ session: Session, check: (StoredImage?) throws -> Void
  ) throws -> Bool {
    try requireOwner(of: kind, owner, viewer, session)
    try cancelImages(kind, of: owner, session)
    try check(lockedImage(kind, of: owner, session))
    let dropped = try session.execute(Self.statements["drop_images"], .text(kind.rawValue), .text(owner))
    try release(dropped, session)
    return !dropped.isEmpty
  }

  /// Cancels the jobs of the images of an owner that has one at a time, and locks the owner until the transaction ends.
  func cancelImages(_ kind: ImageKind, of owner: String, _ session: Session) throws {
    try cancelJobs(
      session.execute(Self.statements["jobs_of_images"], .text(kind.rawValue), .text(owner)), session)
    try session.execute(Self.statements["lock_owner"], .text(kind.rawValue), .text(owner))
  }

  /// Throws unless the viewer may replace and delete the image of an owner that has one at a time.
  func requireOwner(of kind: ImageKind, _ owner: String, _ viewer: Viewer, _ session: Session) throws {
    guard let user = viewer.user else { return }
    switch kind {
    case .profile: try viewer.require(owner: owner)
    case .itinerary:
      try session.execute(Self.statements["lock_itinerary"], .text(owner))
      if let role = try roleOfCollection(owner, for: viewer, session) {
        guard role?.mayEdit == true else { throw OwnershipRefusal() }
        return
      }
      let foreign = try session.execute(Self.statements["has_foreign_thumbnail"], .text(owner), .text(user))
      guard foreign.isEmpty else { throw OwnershipRefusal() }
    case .reaction, .place: break
    }
  }

  private func cancelJobs(_ rows: Rows, _ session: Session) throws {
    for row in rows { _ = try JobQueue.cancel(try row.publicID("job"), session) }
  }

  /// Drops the sets of deleted posts or images, and cancels the jobs that were enqueued for them since their jobs were cancelled: what
  /// another transaction submits is seen once it is deleted.
  func release(_ rows: Rows, _ session: Session) throws {
    var jobs: [PublicID] = []
    for row in rows {
      if let job = try row.get("job", as: String?.self).flatMap({ PublicID($0) }) { jobs.append(job) }
      for column in ["asset_set_id", "source_set_id"] {
        if let set = try row.get(column, as: Int64?.self) { try dropSet(set, session) }
      }
    }
    try JobQueue.cancelFree(jobs, session)
  }
}
