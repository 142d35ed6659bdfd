extension Definition {
  /// What one input is.
  package struct Input: Codable, Sendable, Hashable {
    /// What kind of media it carries.
    package enum Kind: String, Codable, Sendable {
      case video
    }

    package var kind: Kind
  }
}
