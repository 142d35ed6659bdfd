import CRoomsSQL
import FoundationEssentials
package import Model
package import Postgres
package import Queue
package import Store

/// The events of users.
package enum Events: Room {
  package static let statements = Statements(
    topic: "events", Store.fragments, RoomsSQL.Events)

  package static let migrations = [
    Migration(version: 150, name: "event_positions", RoomsSQL.v0150_event_positions),
    Migration(version: 174, name: "turns", RoomsSQL.v0174_turns),
    Migration(version: 183, name: "history", RoomsSQL.v0183_history),
  ]

  package static var maintenance: [MaintenanceTask] {
    [
      MaintenanceTask("events", deleting: dropOld),
      MaintenanceTask("dispatch", on: Store.eventChannel) { try await dispatch($0) },
    ]
  }

  package static var settingAside: [SetAside.Table] { [.announcement, .userEvent] }

  package static var forgetting: [ForgettingStep] {
    [
      ForgettingStep(
        statements["drop_events_of_user"], statements["blank_events_by_user"], statements["drop_announcements_by_user"]),
      ForgettingStep(atEnd: statements["drop_tickets_of_user"], statements["drop_event_count"]),
    ]
  }

  /// The time for which events are stored, in seconds: seven days.
  package static let retention = 7.0 * 24 * 3600

  /// Begins the history of the database, if it is another one than that which is stored, in a transaction of its own: what is numbered
  /// afterwards finds it compared, and waits for no lock.
  static func findHistory(in database: Pool) async throws {
    try await database.transaction { session in _ = try session.execute(statements["find_history"]) }
  }

  /// Has the copy of a database, which lacks nothing, continue its history.
  package static func continueHistory(of former: Session, in copy: Session) throws {
    // What migrates an older one records the server.
    guard try Migrator.applied(former).contains(183),
      try former.execute(statements["continues_history"]).single().get("is_same", as: Bool.self)
    else { return }
    try copy.execute(statements["continue_history"])
  }

  /// Reads the events of a user, or of all, that follow a number, the oldest first.
  package static func list(of user: String, after number: Int64, limit: Int, _ session: Session) throws -> [UserEvent] {
    let rows =
      user == UserEvent.everyone
      ? try session.execute(Self.statements["events_of_all"], .integer(number), .integer(limit))
      : try session.execute(Self.statements["events"], .text(user), .integer(number), .integer(limit))
    return try rows.map { row in
      do { return try event(row) } catch  where SetAside.isOfRow(error) {
        // The others are read; who reads this one has nothing of it.
        try noteUnreadable(row, error, session)
        return UserEvent(
          number: try row.get("number"), kind: UserEvent.blank, actor: nil, post: nil, subject: nil,
          createdAt: Date(microseconds: try row.get("created_at")), receiver: try row.get("user_id"))
      }
    }
  }

  /// Notes an event that this version cannot read, by what is the same for all who read it.
  static func noteUnreadable(_ row: Row, _ error: any Error, _ session: Session) throws {
    let key = try "\(row.get("kind", as: String.self)) \(row.get("created_at", as: Int64.self))"
    try SetAside.note(.userEvent, key, error, session)
  }

  /// - Throws: `PostgresError` of the kind `decoding`, where a later version has written what this one cannot read.
  package static func event(_ row: Row) throws -> UserEvent {
    UserEvent(
      number: try row.get("number"), kind: try row.get("kind"), actor: try row.get("actor"),
      post: try row.get("post", as: String?.self).flatMap { PublicID($0) },
      subject: try row.get("subject", as: String?.self).flatMap { PublicID($0) },
      data: try row.get("data", as: String?.self) == nil ? nil : row.json("data"),
      createdAt: Date(microseconds: try row.get("created_at")), receiver: try row.get("user_id"))
  }

  /// The position of the oldest event of all that is still stored; nil: there is none.
  package static func firstPosition(_ session: Session) throws(PostgresError) -> Int64? {
    try session.execute(Self.statements["first_position"]).single().get("first")
  }

  /// Deletes up to 1000 old events and all expired tickets; returns the number of the events.
  package static func dropOld(_ session: Session) throws(PostgresError) -> Int {
    try session.execute(Self.statements["drop_expired_tickets"])
    try session.execute(Self.statements["drop_old_announcements"], .double(Self.retention))
    return try session.execute(Self.statements["drop_old_events"], .double(Self.retention)).affected
  }
}

extension SetAside.Table {
  static let announcement = Self("announcement")
  static let userEvent = Self("user_event")
}
