package import FoundationEssentials

/// A comment.
package struct Comment: Sendable, Hashable {
  package let id: PublicID
  /// A post, a place or a collection.
  package let subject: RecordID
  /// The app's id of the author.
  package let author: String
  package let text: String
  package let createdAt: Date
  /// When the author last changed the text; nil: never.
  package let editedAt: Date?
  /// Whether a moderator has hidden it: only its author sees it.
  package let isHidden: Bool

  package init(
    id: PublicID, subject: RecordID, author: String, text: String, createdAt: Date, editedAt: Date?,
    isHidden: Bool
  ) {
    self.id = id
    self.subject = subject
    self.author = author
    self.text = text
    self.createdAt = createdAt
    self.editedAt = editedAt
    self.isHidden = isHidden
  }
}
