package import FoundationEssentials

/// A text that somebody wrote under a post.
package struct Comment: Sendable, Hashable {
  package let id: PublicID
  package let post: PublicID
  /// By the app's own name.
  package let author: String
  package let text: String
  package let createdAt: Date

  package init(id: PublicID, post: PublicID, author: String, text: String, createdAt: Date) {
    self.id = id
    self.post = post
    self.author = author
    self.text = text
    self.createdAt = createdAt
  }
}
