public import Foundation

/// Posts: lists, single ones, their changes.
///
/// ```swift
/// for try await row in client.posts.feed(include: [.author, .mine]) { show(row) }
/// let post = try await client.posts.waitUntilReady(id)
/// try await client.posts.delete(post.id)
/// ```
public struct Posts: Sendable {
  let connection: Connection

  /// The posts of the user and of friends, the newest first.
  ///
  /// - Parameters:
  ///   - kinds: The kinds; empty: all.
  ///   - include: What the response contains beside the posts.
  ///   - processing: Whether posts whose media are still processed are in it, which have at most a first look.
  public func feed(
    kinds: [PostKind] = [], include: Set<Inclusion> = [], processing: Bool = false
  ) -> RecordList<Post> {
    var query = kinds.map { (name: "kind", value: $0.rawValue) }
    if processing { query += ["ready", "processing"].map { (name: "status", value: $0) } }
    return RecordList(connection, "/v1/users/me/feed", query, include: include)
  }

  /// The posts that pass a filter.
  public func list(_ filter: PostFilter = PostFilter(), include: Set<Inclusion> = []) -> RecordList<Post> {
    RecordList(connection: connection) { cursor in
      Request("POST", "/v1/posts/search", json: filter.json(include: include, cursor: cursor), isSafe: true)
    }
  }

  /// The days of a month on which an author has posts.
  ///
  /// - Parameters:
  ///   - author: The id of the author, by default the user.
  ///   - year: The year.
  ///   - month: The month, 1 to 12.
  ///   - zone: The name of the time zone, such as `Europe/Berlin`.
  public func calendar(
    of author: String = "me", year: Int, month: Int, zone: String = TimeZone.current.identifier
  ) async throws(Take5Error) -> CalendarMonth {
    let digits = "\(month)"
    let text = "\(year)-" + (digits.utf8.count < 2 ? "0" : "") + digits
    return try await connection.value(
      Request("GET", Request.path("v1", "users", author, "calendar"), query: [("month", text), ("zone", zone)]))
  }

  /// Reads a post.
  public func post(_ id: String) async throws(Take5Error) -> Post {
    try await connection.value(Request("GET", Request.path("v1", "posts", id)))
  }

  /// Reads a post with the records beside it.
  public func row(_ id: String, include: Set<Inclusion>) async throws(Take5Error) -> Row<Post> {
    let list = RecordList<Post>(connection, "/v1/posts", [("id", id)], include: include)
    guard let row = try await list.page().rows.first else {
      throw .problem(Problem(code: .postNotFound, title: "Post not found", status: 404))
    }
    return row
  }

  /// Waits until the media of a post are processed, and returns it: ready, rejected or failed.
  public func waitUntilReady(_ id: String) async throws(Take5Error) -> Post { try await wait(id, for: "ready") }

  /// Waits until there is something to see of a post, and returns it.
  public func waitForLook(_ id: String) async throws(Take5Error) -> Post { try await wait(id, for: "look") }

  private func wait(_ id: String, for goal: String) async throws(Take5Error) -> Post {
    while true {
      let start = Date()
      var request = Request(
        "GET", Request.path("v1", "posts", id), query: [("wait", "50"), ("for", goal)])
      request.retries = 20
      let post: Post = try await connection.value(request)
      if post.status != .processing || goal == "look" && post.hasMedia { return post }
      // A proxy may answer in place of the service.
      if start.timeIntervalSinceNow > -1 { try await Retry.pause(1) }
    }
  }

  /// Changes a post. A value that is nil stays as it is.
  @discardableResult
  public func change(
    _ id: String, caption: String? = nil, visibility: PostVisibility? = nil, foreground: Camera? = nil
  ) async throws(Take5Error) -> Post {
    var members: [String: JSONValue] = [:]
    if let caption { members["caption"] = .string(caption) }
    if let visibility { members["visibility"] = .string(visibility.rawValue) }
    if let foreground { members["foreground"] = .string(foreground.rawValue) }
    return try await connection.value(
      Request("PATCH", Request.path("v1", "posts", id), json: .object(members), isSafe: true))
  }

  /// Deletes a post with its media, comments and reactions.
  public func delete(_ id: String) async throws(Take5Error) {
    _ = try await connection.response(Request("DELETE", Request.path("v1", "posts", id)))
  }
}
