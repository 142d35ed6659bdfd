/// How much others had to say to a post.
package struct PostCounts: Codable, Sendable, Hashable {
  package let comments: Int
  /// Those that can be seen.
  package let reactions: Int

  package init(comments: Int = 0, reactions: Int = 0) {
    self.comments = comments
    self.reactions = reactions
  }
}
