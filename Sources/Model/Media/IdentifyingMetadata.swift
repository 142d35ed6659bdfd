/// Something in a file that tells about more than the moment: never its value, only what it is called.
package struct IdentifyingMetadata: Codable, Sendable, Hashable {
  /// What it gives away.
  package enum Kind: String, Codable, Sendable {
    case place
    case device
    case person
    /// What nobody can say without its value: descriptions, foreign data.
    case other
  }

  package var kind: Kind
  /// The name under which it stands in the file: `©xyz`, `com.apple.quicktime.model`.
  package var key: String

  package init(kind: Kind, key: String) {
    self.kind = kind
    self.key = key
  }
}
