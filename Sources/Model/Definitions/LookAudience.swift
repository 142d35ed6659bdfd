/// Who sees the first look of a post: what is shown of its media until its outputs are complete.
package enum LookAudience: String, NamedCases, Sendable {
  /// The author alone, as the media may still be refused.
  case author
  /// Everybody who sees the post.
  case viewers
  /// No first look is made.
  case notMade = "none"

  /// That of a definition that does not say it.
  package static let standard = author
}

extension MediaDefinition {
  /// Who sees the first look of a post.
  package var look: LookAudience {
    switch self {
    case .clips(let definition): definition.look ?? .standard
    case .photos(let definition): definition.look ?? .standard
    }
  }
}
