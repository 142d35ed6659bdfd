/// Users and friends.
///
/// ```swift
/// let found = try await client.users.search("bo")
/// try await client.users.befriend(found[0].id)
/// for try await row in client.users.friends(include: [.author]) { show(row.targetProfile) }
/// ```
public struct Users: Sendable {
  let connection: Connection

  /// Reads a user; `me` is the one who is signed in.
  public func user(_ id: String = "me") async throws(Take5Error) -> User {
    try await connection.value(Request("GET", Request.path("v1", "users", id)))
  }

  /// Finds users by the beginning of user name or name.
  public func search(_ text: String, limit: Int = 20) async throws(Take5Error) -> [Row<User>] {
    let query = [(name: "query", value: text), (name: "limit", value: "\(limit)")]
    return try await RecordList<User>(connection, "/v1/users", query).page().rows
  }

  /// Changes the profile of the user. A value that is nil stays as it is.
  @discardableResult
  public func changeProfile(name: String? = nil, bio: String? = nil) async throws(Take5Error) -> User {
    var members: [String: JSONValue] = [:]
    if let name { members["name"] = .string(name) }
    if let bio { members["bio"] = .string(bio) }
    return try await connection.value(
      Request("PATCH", "/v1/users/me", json: .object(members), isSafe: true))
  }

  /// The friends of the user.
  public func friends(include: Set<Inclusion> = []) -> RecordList<Relation> {
    RecordList(connection, "/v1/users/me/friends", include: include)
  }

  /// The users who have asked the user for friendship.
  public func friendRequests(include: Set<Inclusion> = []) -> RecordList<Relation> {
    RecordList(connection, "/v1/users/me/friends", [("state", "received")], include: include)
  }

  /// Asks another user for friendship, or accepts the request of the other user.
  @discardableResult
  public func befriend(_ id: String) async throws(Take5Error) -> Relation {
    try await connection.value(Request("PUT", Request.path("v1", "users", "me", "friends", id)))
  }

  /// Ends a friendship, cancels a request or declines one.
  public func unfriend(_ id: String) async throws(Take5Error) {
    _ = try await connection.response(Request("DELETE", Request.path("v1", "users", "me", "friends", id)))
  }

  /// Blocks a user: neither sees anything of the other.
  public func block(_ id: String) async throws(Take5Error) {
    _ = try await connection.response(Request("PUT", Request.path("v1", "users", "me", "blocks", id)))
  }

  /// Reports a post to the moderators.
  public func report(post: String, reason: String) async throws(Take5Error) {
    _ = try await connection.response(
      Request("POST", "/v1/reports", json: ["post": .string(post), "reason": .string(reason)]))
  }

  /// Deletes the account with everything that is the user's.
  public func deleteAccount() async throws(Take5Error) {
    _ = try await connection.response(Request("DELETE", "/v1/users/me"))
  }
}
