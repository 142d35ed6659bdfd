package import Model
package import Store

/// An asset that names a blob, and whose it is.
package struct BlobUse: Sendable, Hashable {
  package let role: Role
  /// Whose current media, or whose sources, it is one of; nil: a set that was replaced.
  package let subject: Subject?
  /// Whether the subject's sources are kept.
  package let hasSources: Bool
  /// Whether its set is kept on purpose, though it was replaced.
  package let isKept: Bool

  package init(role: Role, subject: Subject?, hasSources: Bool, isKept: Bool = false) {
    self.role = role
    self.subject = subject
    self.hasSources = hasSources
    self.isKept = isKept
  }
}
