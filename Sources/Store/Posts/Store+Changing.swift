package import Model
package import Postgres
import Queue

/// What an app changes about posts and takes away; each call is to be one transaction of the caller's.
///
/// Call `collectReleased` after the commit of what removes media.
extension Store {
  /// What became of a change.
  package enum Changed: Sendable, Hashable {
    case changed
    case notFound
    /// A post without media needs a caption or a title.
    case missingText
  }

  /// Changes what is said of a post.
  ///
  /// Where fewer may see it than before, its media get new ids: no URL that was given out leads to them any longer.
  ///
  /// - Parameter check: is given the post as it is once nobody else can change it; what it throws leaves it so.
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
      Self.statements["change_post"], .text(id.description), .text(draft.title), .text(draft.caption),
      .text(draft.visibility.rawValue), .text(draft.place?.id), .text(draft.place?.name),
      .double(draft.place?.coordinate?.latitude), .double(draft.place?.coordinate?.longitude))
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

  /// Removes a post with its comments, its reactions and all of their media; a job that runs for any of them is cancelled,
  /// and publishes nothing. False if there is none.
  ///
  /// - Parameter check: is given the post as it is once nobody else can change it; what it throws is to roll back.
  package func delete(post id: PublicID, _ session: Session, check: (Post) throws -> Void = { _ in }) throws -> Bool {
    try cancelJobs(session.execute(Self.statements["jobs_of_post"], .text(id.description)), session)
    guard let row = try session.execute(Self.statements["lock_post"], .text(id.description)).first else { return false }
    try post(id, session).map(check)
    let number: Int64 = try row.get("id")
    try dropSets(session.execute(Self.statements["drop_reactions"], .integer(number)), session)
    try dropSets(session.execute(Self.statements["drop_post"], .integer(number)), session)
    return true
  }

  /// Removes one image; of a reaction, the post is told. False if there is none, or not of this kind and owner.
  package func delete(
    image id: PublicID, _ kind: ImageKind, of owner: String, _ session: Session
  ) throws -> Bool {
    guard let row = try session.execute(Self.statements["image"], .text(id.description)).first,
      try PostDraft.word(row, "kind") == kind, try row.get("owner", as: String.self) == owner
    else { return false }
    if let job = try row.get("job", as: String?.self).flatMap({ PublicID($0) }) {
      _ = try JobQueue.cancel(job, session)
    }
    if kind == .reaction { try session.execute(Self.statements["lock_post"], .text(owner)) }
    // As it stands now that nobody else can end its job.
    guard let now = try session.execute(Self.statements["image"], .text(id.description)).first else { return false }
    let isShown: Bool = try PostDraft.word(now, "status") == ImageStatus.ready
    if kind == .reaction, isShown {
      try session.execute(Self.statements["count_reactions"], .text(id.description), .integer(-1))
    }
    let dropped = try session.execute(Self.statements["drop_image"], .text(id.description))
    try dropSets(dropped, session)
    return !dropped.isEmpty
  }

  /// Removes all images of an owner, those on their way included. False if there were none.
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
