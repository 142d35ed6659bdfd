import FoundationEssentials
package import Model
package import Postgres
import Queue

/// The events of users.
extension Store {
  static let eventStatements = Statements(topic: "events", PackageResources.Events_sql)

  /// The channel of the notification that a user has an event; the payload is the user.
  package static let eventChannel = "take5_events"

  /// The time for which events are stored, in seconds: seven days.
  package static let eventRetention = 7.0 * 24 * 3600

  /// Stores an event of a user and notifies the streams of that user, in the transaction that causes it; does nothing if the user is the one who caused it.
  ///
  /// It is the last change of a transaction, or one of the last: the count of the user's events stays locked until the
  /// commit. Several users are notified in the order of their ids, by their bytes.
  ///
  /// - Parameters:
  ///   - actor: the user who caused it; nil: the service did.
  ///   - subject: the comment or the image that it is about.
  package func notify(
    _ user: String, of kind: UserEvent.Kind, by actor: String?, post: PublicID? = nil, subject: PublicID? = nil,
    _ session: Session
  ) throws(PostgresError) {
    let inserted = try session.execute(
      Self.eventStatements["insert_event"], .text(user), .text(kind.rawValue), .text(actor), .text(post?.description),
      .text(subject?.description))
    guard !inserted.isEmpty else { return }
    try session.executeAfterCommit(Self.eventStatements["notify_user"], .text(Self.eventChannel), .text(user))
  }

  /// Returns the numbers of the last events of users; users who never had one are not in the result.
  package func lastEvents(of users: [UserKey], _ session: Session) throws(PostgresError) -> [UserKey: Int64] {
    var last: [UserKey: Int64] = [:]
    for row in try session.execute(Self.eventStatements["last_events"], .texts(users.map(\.text))) {
      last[UserKey(try row.get("user_id"))] = try row.get("last")
    }
    return last
  }

  /// Reads the events of a user that follow a number, the oldest first.
  package func events(of user: String, after number: Int64, limit: Int, _ session: Session) throws -> [UserEvent] {
    try session.execute(Self.eventStatements["events"], .text(user), .integer(number), .integer(limit)).map { row in
      UserEvent(
        number: try row.get("number"), kind: try row.get("kind"), actor: try row.get("actor"),
        post: try row.get("post", as: String?.self).flatMap { PublicID($0) },
        subject: try row.get("subject", as: String?.self).flatMap { PublicID($0) },
        createdAt: Date(microseconds: try row.get("created_at")))
    }
  }

  /// Deletes up to 1000 old events and all expired tickets; returns the number of the events.
  package func dropOldEvents(_ session: Session) throws(PostgresError) -> Int {
    try session.execute(Self.eventStatements["drop_expired_tickets"])
    return try session.execute(Self.eventStatements["drop_old_events"], .double(Self.eventRetention)).affected
  }

  /// Returns the position of the last opening or closing of a window; 0 if there was none.
  package func lastWindowChange(_ session: Session) throws(PostgresError) -> Int64 {
    guard let row = try session.execute(Self.eventStatements["last_window"]).first else { return 0 }
    return try 2 * row.get("id", as: Int64.self) + (row.get("is_over", as: Bool.self) ? 1 : 0)
  }

  /// Reads the openings and closings that follow a position, the oldest first.
  ///
  /// A window that was still open when the next one opened has no closing: apps know one window, the latest.
  package func windowChanges(after position: Int64, _ session: Session) throws -> [WindowChange] {
    let windows = try session.execute(Self.eventStatements["windows"], .integer(position / 2)).map { row in
      (
        id: try row.get("id", as: Int64.self), opened: Date(microseconds: try row.get("opened_at")),
        closes: Date(microseconds: try row.get("closes_at")), isOver: try row.get("is_over", as: Bool.self)
      )
    }
    var changes: [WindowChange] = []
    for (index, window) in windows.enumerated() {
      let next = windows.indices.contains(index + 1) ? windows[index + 1].opened : nil
      changes.append(WindowChange(position: 2 * window.id, openedAt: window.opened, closesAt: window.closes))
      if window.isOver, next.map({ window.closes <= $0 }) ?? true {
        changes.append(WindowChange(position: 2 * window.id + 1, openedAt: window.opened, closesAt: window.closes))
      }
    }
    return changes.filter { $0.position > position }
  }
}

/// A user as the key of a dictionary: PostgreSQL compares ids by their bytes, and Swift's texts also equate different bytes
/// of the same characters.
package struct UserKey: Sendable, Hashable {
  package let text: String
  private let bytes: [UInt8]

  package init(_ text: String) {
    self.text = text
    bytes = Array(text.utf8)
  }

  package static func == (left: UserKey, right: UserKey) -> Bool { left.bytes == right.bytes }

  package func hash(into hasher: inout Hasher) { hasher.combine(bytes) }
}

extension UserKey: Comparable {
  package static func < (left: UserKey, right: UserKey) -> Bool { left.bytes.lexicographicallyPrecedes(right.bytes) }
}
