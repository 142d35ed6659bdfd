/// The name of one version of a representation (RFC 9110 section 8.8.3).
package struct EntityTag: Sendable, Hashable, CustomStringConvertible {
  /// What stands between the quotes.
  package let opaque: String
  /// Whether it promises equal meaning only, not equal bytes.
  package let isWeak: Bool

  /// A strong tag; `opaque` holds no quotes.
  package init(strong opaque: String) {
    self.opaque = opaque
    isWeak = false
  }

  /// Reads `"…"` or `W/"…"`.
  init?(_ text: some StringProtocol) {
    var rest = text.trimmingBlanks
    isWeak = rest.hasPrefix("W/")
    if isWeak { rest = rest.dropFirst(2) }
    guard rest.utf8.count >= 2, rest.hasPrefix("\""), rest.hasSuffix("\"") else { return nil }
    opaque = String(rest.dropFirst().dropLast())
    if opaque.utf8.contains(UInt8(ascii: "\"")) { return nil }
  }

  package var description: String { (isWeak ? "W/" : "") + "\"\(opaque)\"" }

  /// Strong comparison: the same bytes.
  func isSame(as other: EntityTag) -> Bool { !isWeak && !other.isWeak && opaque == other.opaque }

  /// Weak comparison: as good as the same.
  func isEquivalent(to other: EntityTag) -> Bool { opaque == other.opaque }
}
