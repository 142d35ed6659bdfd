import Foundation

extension Posts {
  /// The comments on a post, the newest first.
  public func comments(on post: String, include: Set<Inclusion> = []) -> RecordList<Comment> {
    RecordList(connection, Request.path("v1", "posts", post, "comments"), include: include)
  }

  /// Comments on a post. A repetition after a lost response adds no second comment.
  @discardableResult
  public func comment(on post: String, _ text: String) async throws(Take5Error) -> Comment {
    try await connection.value(
      Request(
        "POST", Request.path("v1", "posts", post, "comments"), json: ["text": .string(text)], key: UUID().uuidString))
  }

  /// Changes the text of a comment.
  @discardableResult
  public func changeComment(_ id: String, on post: String, to text: String) async throws(Take5Error) -> Comment {
    try await connection.value(
      Request(
        "PATCH", Request.path("v1", "posts", post, "comments", id), json: ["text": .string(text)], isSafe: true))
  }

  /// Deletes a comment.
  public func deleteComment(_ id: String, on post: String) async throws(Take5Error) {
    _ = try await connection.response(Request("DELETE", Request.path("v1", "posts", post, "comments", id)))
  }

  /// The reactions to a post that are ready, the newest first.
  public func reactions(to post: String, include: Set<Inclusion> = []) -> RecordList<ImageRecord> {
    RecordList(connection, Request.path("v1", "posts", post, "reactions"), include: include)
  }

  /// Deletes a reaction.
  public func deleteReaction(_ id: String, to post: String) async throws(Take5Error) {
    _ = try await connection.response(Request("DELETE", Request.path("v1", "posts", post, "reactions", id)))
  }

  /// Likes a post, or does not like it any more.
  public func setLike(_ isLiked: Bool, of post: String) async throws(Take5Error) {
    _ = try await connection.response(
      Request(isLiked ? "PUT" : "DELETE", Request.path("v1", "users", "me", "likes", post)))
  }

  /// Puts a bookmark on a post, which its user alone sees, or removes it.
  public func setBookmark(_ isBookmarked: Bool, on post: String) async throws(Take5Error) {
    _ = try await connection.response(
      Request(isBookmarked ? "PUT" : "DELETE", Request.path("v1", "users", "me", "bookmarks", post)))
  }

  /// The likes of the user, the newest first; the `target` of each is the id of a post.
  public func likes() -> RecordList<Relation> { RecordList(connection, "/v1/users/me/likes") }

  /// The bookmarks of the user, the newest first; the `target` of each is the id of a post.
  public func bookmarks() -> RecordList<Relation> { RecordList(connection, "/v1/users/me/bookmarks") }

  /// Waits until an image, such as a reaction, is processed, and returns it.
  public func waitUntilReady(image id: String) async throws(Take5Error) -> ImageRecord {
    while true {
      let start = Date()
      var request = Request("GET", Request.path("v1", "images", id), query: [("wait", "50")])
      request.retries = 20
      let image: ImageRecord = try await connection.value(request)
      if image.status != "processing" { return image }
      if start.timeIntervalSinceNow > -1 { try await Retry.pause(1) }
    }
  }
}
