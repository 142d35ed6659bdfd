import FoundationEssentials
package import Model
package import Postgres
import Queue
import Store

/// How users rate places. A trigger keeps the counters.
extension Places {
  /// Creates or replaces a user's rating of a place; nil if the viewer may not know of the place.
  ///
  /// - Parameters:
  ///   - halves: the rating, in halves.
  ///   - check: receives the locked rating, nil if there is none; an error from it prevents the change.
  /// - Throws: `ForgottenRefusal`, `SuspendedRefusal`.
  package static func rate(
    _ place: String, halves: Int, by user: String, for viewer: Viewer, _ session: Session,
    check: (PlaceRating?) throws -> Void
  ) throws -> PlaceRating? {
    try Store.requireUsers(user, in: session)
    let locked = try session.execute(Self.statements["lock_known_place"], .text(place), viewer.parameter)
    guard !locked.isEmpty else { return nil }
    try check(Self.rating(of: place, by: user, session))
    try session.execute(
      Self.statements["save_rating"], .text(user), .text(place), .integer(halves))
    return try Self.rating(of: place, by: user, session)
  }

  /// Reads a user's rating of a place; nil if there is none.
  package static func rating(of place: String, by user: String, _ session: Session) throws -> PlaceRating? {
    try session.execute(Self.statements["rating"], .text(user), .text(place)).first.map(Self.rating)
  }

  /// Reads a page of a user's ratings, the latest change first.
  package static func ratings(by user: String, _ page: PageRequest, _ session: Session) throws -> Page<PlaceRating> {
    let rows = try session.execute(Self.statements["ratings"], [.text(user)] + page.parameters)
    return try Page(rows, page, by: PageCursor.changed) { try $0.map(Self.rating) }
  }

  /// Deletes a user's rating of a place; false if there is none.
  ///
  /// - Parameter check: receives the locked rating; an error from it prevents the deletion.
  package static func deleteRating(
    of place: String, by user: String, _ session: Session, check: (PlaceRating) throws -> Void
  ) throws -> Bool {
    try session.execute(Self.statements["lock_place"], .text(place))
    guard let rating = try Self.rating(of: place, by: user, session) else { return false }
    try check(rating)
    return try session.execute(Self.statements["drop_rating"], .text(user), .text(place)).affected > 0
  }

  static func rating(_ row: Row) throws -> PlaceRating {
    PlaceRating(
      place: try row.get("place_id"), rating: Double(try row.get("halves", as: Int.self)) / 2,
      createdAt: Date(microseconds: try row.get("created_at")),
      updatedAt: Date(microseconds: try row.get("updated_at")))
  }
}
