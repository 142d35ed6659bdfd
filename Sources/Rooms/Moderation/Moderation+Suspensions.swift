import Model
package import Postgres
package import Store

/// Suspended users, of whom the service keeps a copy in memory.
extension Moderation {
  /// Returns how often the suspended users have changed.
  package static func suspensionNumber(_ session: Session) throws(PostgresError) -> Int64 {
    try session.execute(Self.statements["suspension_number"]).single().get("number")
  }

  /// Reads the suspended users.
  package static func suspendedUsers(_ session: Session) throws(PostgresError) -> Set<UserKey> {
    var users: Set<UserKey> = []
    for row in try session.execute(Self.statements["suspended_users"]) { users.insert(UserKey(try row.get("user_id"))) }
    return users
  }
}
