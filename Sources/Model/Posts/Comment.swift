package import FoundationEssentials

/// What users comment on.
package enum CommentSubject: Sendable, Hashable {
  case post(PublicID)
  /// The app's id of a place.
  case place(String)
  case collection(PublicID)
}

/// A comment.
package struct Comment: Sendable, Hashable {
  package let id: PublicID
  package let subject: CommentSubject
  /// The app's id of the author.
  package let author: String
  package let text: String
  package let createdAt: Date
  /// Whether a moderator has hidden it: only its author sees it.
  package let isHidden: Bool

  package init(
    id: PublicID, subject: CommentSubject, author: String, text: String, createdAt: Date, isHidden: Bool
  ) {
    self.id = id
    self.subject = subject
    self.author = author
    self.text = text
    self.createdAt = createdAt
    self.isHidden = isHidden
  }
}
