import FoundationEssentials
package import Model
package import Postgres
import Queue
import Store

/// What users and back-ends say of places.
extension Places {
  /// Stores a place of the app's own, which its author alone describes, and returns it.
  ///
  /// - Throws: `ForgottenRefusal`, `SuspendedRefusal`.
  package static func create(
    _ description: PlaceDescription, for viewer: Viewer, _ session: Session
  ) throws -> StoredPlace? {
    try Store.requireUsers(viewer.user, in: session)
    let id = PublicID.now().description
    try session.execute(Self.statements["add_own_place"], .text(id), .text(viewer.user))
    try say(description, of: id, viewer, session)
    return try find(id, for: viewer, session)
  }

  /// Stores what the viewer says of a place, in place of what the viewer has said before; false if the viewer may not know of the place.
  ///
  /// What a client that acts as no user says is shown, and of what users say that on which most of them agree.
  ///
  /// - Parameter check: receives the place before the change, nil if there is none; an error from it prevents the change.
  /// - Throws: `ForgottenRefusal`, `SuspendedRefusal`; `OwnershipRefusal` for an own place of another user. The caller must roll back.
  package static func describe(
    _ id: String, _ description: PlaceDescription, for viewer: Viewer, _ session: Session,
    check: (StoredPlace?) throws -> Void
  ) throws -> Bool {
    try Store.requireUsers(viewer.user, in: session)
    try session.execute(Self.statements["add_place"], .text(id))
    let locked = try session.execute(Self.statements["lock_place"], .text(id)).single()
    guard try viewer == .unrestricted || !locked.get("is_hidden") else { return false }
    if try locked.get("is_own") { try viewer.require(owner: locked.get("author")) }
    try check(find(id, for: viewer, session))
    try say(description, of: id, viewer, session)
    try session.execute(Self.statements["count_description"], .text(id), .text(viewer.user))
    return true
  }

  private static func say(
    _ description: PlaceDescription, of id: String, _ viewer: Viewer, _ session: Session
  ) throws(PostgresError) {
    try session.execute(
      Self.statements["describe_place"], .text(id), .text(viewer.user), .text(description.name),
      .double(description.coordinate?.latitude), .double(description.coordinate?.longitude),
      .texts(description.categories), .double(description.rating), .integer(description.priceLevel.map(Int64.init)))
  }
}
