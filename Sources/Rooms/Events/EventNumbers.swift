internal import Model
internal import Postgres
internal import Store

/// How far the events of some users have got, in the present history of the database.
struct EventNumbers: Sendable {
  let history: EventHistory
  private var last: [UserKey: Int64] = [:]
  /// Whether the history is the present one, rather than one that another follows: the server was started since, or is another one.
  private let isPresent: Bool

  /// Reads them by a function; again if the history may be another one, which begins with this if it is.
  static func present(in database: Pool, _ read: () async throws -> EventNumbers) async throws -> EventNumbers {
    let numbers = try await read()
    if numbers.isPresent { return numbers }
    try await Events.findHistory(in: database)
    return try await read()
  }

  init(of users: [UserKey], _ session: Session) throws(PostgresError) {
    let rows = Array(try session.execute(Events.statements["last_events"], .texts(users.map(\.text))))
    guard let row = rows.first else { throw PostgresError(.decoding, "the row of event_history is missing") }
    history = EventHistory(after: try row.get("history_after"), window: try row.get("window_before"))
    isPresent = try row.get("is_present")
    last[UserKey(UserEvent.everyone)] = try row.get("last_of_all")
    for row in rows {
      if let user = try row.get("user_id", as: String?.self) { last[UserKey(user)] = try row.get("last") }
    }
  }

  /// The number of the last event of a user, or of all; that which the history begins after if it has none in it.
  subscript(user: UserKey) -> Int64 { last[user] ?? history.after }
}
