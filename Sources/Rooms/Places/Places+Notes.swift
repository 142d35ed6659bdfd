import FoundationEssentials
package import Model
package import Postgres
import Queue
import Store

/// What users note about places, for their own eyes.
extension Places {
  /// Creates or replaces a user's note about a place.
  ///
  /// - Parameter check: receives the locked note, nil if there is none; an error from it prevents the change.
  /// - Throws: `ForgottenRefusal`.
  package static func saveNote(
    _ text: String, of user: String, about place: String, _ session: Session, check: (PlaceNote?) throws -> Void
  ) throws -> PlaceNote? {
    try Store.requireUsers(user, in: session)
    try check(note(Self.statements["lock_note"], user, place, session))
    try session.execute(Self.statements["save_note"], .text(user), .text(place), .text(text))
    return try note(of: user, about: place, session)
  }

  /// Reads a user's note about a place; nil if there is none.
  package static func note(of user: String, about place: String, _ session: Session) throws -> PlaceNote? {
    try note(Self.statements["note"], user, place, session)
  }

  /// Reads a page of a user's notes, the latest change first.
  package static func notes(of user: String, _ page: PageRequest, _ session: Session) throws -> Page<PlaceNote> {
    let rows = try session.execute(Self.statements["notes"], [.text(user)] + page.parameters)
    return try Page(rows, page, by: PageCursor.changed) { try $0.map(Self.note) }
  }

  /// Deletes a user's note about a place; false if there is none.
  ///
  /// - Parameter check: receives the locked note; an error from it prevents the deletion.
  package static func deleteNote(
    of user: String, about place: String, _ session: Session, check: (PlaceNote) throws -> Void
  ) throws -> Bool {
    guard let note = try note(Self.statements["lock_note"], user, place, session) else { return false }
    try check(note)
    return try session.execute(Self.statements["drop_note"], .text(user), .text(place)).affected > 0
  }

  private static func note(_ statement: Statement, _ user: String, _ place: String, _ session: Session) throws
    -> PlaceNote?
  {
    try session.execute(statement, .text(user), .text(place)).first.map(Self.note)
  }

  static func note(_ row: Row) throws -> PlaceNote {
    PlaceNote(
      place: try row.get("place_id"), text: try row.get("text"),
      createdAt: Date(microseconds: try row.get("created_at")),
      updatedAt: Date(microseconds: try row.get("updated_at")))
  }
}
