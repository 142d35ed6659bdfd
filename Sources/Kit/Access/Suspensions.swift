import Model
package import Postgres
package import Store

/// Suspended users, of whom the service keeps a copy in memory.
package enum Suspensions {
  /// Returns how often the suspended users have changed.
  package static func number(_ session: Session) throws(PostgresError) -> Int64 {
    try session.execute(Keys.statements["suspension_number"]).single().get("number")
  }

  /// Reads the suspended users.
  package static func users(_ session: Session) throws(PostgresError) -> Set<UserKey> {
    var users: Set<UserKey> = []
    for row in try session.execute(Keys.statements["suspended_users"]) { users.insert(UserKey(try row.get("user_id"))) }
    return users
  }
}
