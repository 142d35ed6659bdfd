package import Model
package import Postgres
import Queue
import Store

/// The photos of a post: their order, and their removal. Each function runs in a transaction of the caller's.
extension Posts {
  /// Keeps some photos of a post of the viewer's, in an order, and deletes the others with their sources; nil if the viewer sees no such
  /// post. Call `collectReleased` after the commit.
  ///
  /// What stays moves to new sets, so that no job that has read the former ones publishes outputs of a photo that is gone. The URLs
  /// of what stays do not change.
  ///
  /// - Parameters:
  ///   - photos: the indices of the photos that stay.
  ///   - check: receives the locked post before the change; an error from it prevents the change.
  /// - Throws: `OwnershipRefusal`, `SuspendedRefusal`; `NoSuchPhotos`, after which the caller must roll back.
  package static func arrange(
    photos: [Int], of id: PublicID, for viewer: Viewer, _ session: Session, check: (Post) throws -> Void
  ) throws -> Post? {
    try Store.requireUsers(viewer.user, in: session)
    guard let locked = try lock(id, for: viewer, session), let post = try find(id, for: viewer, session) else {
      return nil
    }
    try viewer.require(owner: locked.author)
    try check(post)
    // Those of a first look are not its photos yet.
    let known = post.status == .processing ? 0..<0 : post.photos.indices
    let unknown = photos.indices.filter { !known.contains(photos[$0]) }
    guard unknown.isEmpty, !photos.isEmpty || known.isEmpty else { throw NoSuchPhotos(indices: unknown) }
    guard photos != Array(known) else { return post }
    let row = try session.execute(Self.statements["sets_of_post"], .integer(locked.number)).single()
    let outputs = try moved(row.get("asset_set_id"), photos, session)
    let sources = try moved(row.get("source_set_id"), photos, session)
    try Assets.release(
      session.execute(
        Self.statements["replace_sets"], .integer(locked.number), .integer(outputs), .integer(sources)), session)
    return try find(id, for: viewer, session)
  }

  /// Moves the photos that stay to a new set, and returns it; nil if there is no set.
  private static func moved(_ set: Int64?, _ photos: [Int], _ session: Session) throws -> Int64? {
    guard let set else { return nil }
    let new: Int64 = try session.execute(
      Self.statements["copy_set"], .integer(set), .text(PublicID.now().description)
    ).single().get("id")
    try session.execute(
      Self.statements["move_photos"], .integer(set), .integer(new), .integers(photos.map { Int64($0) }))
    return new
  }
}

/// The error for photos that a post does not have, or if none would stay.
package struct NoSuchPhotos: Error, Sendable, Hashable {
  /// Where they are named; empty: none would stay.
  package let indices: [Int]
}
