/// What people read in one line, such as the name of a user: something is to be seen in it, and it changes nothing beside it.
///
/// The rules are those of the profile Nickname (RFC 8266) for what is seen, with the characters that emoji and the scripts of the world
/// need between letters, and those of the bidirectional algorithm (UAX 9) for what is beside it.
package enum DisplayName {
  /// The fault of a name that is not empty, for a message; nil: it has none.
  package static func problem(with name: String) -> String? {
    guard !name.isEmpty else { return nil }
    var isVisible = false
    var direction = DirectionMarks()
    for scalar in name.unicodeScalars {
      switch scalar.properties.generalCategory {
      case .control, .lineSeparator, .paragraphSeparator: return "must be one line without control characters"
      default: break
      }
      if DirectionMarks.overrides.contains(scalar) { return "must not override the direction of its letters" }
      guard direction.take(scalar) else { return closing }
      isVisible = isVisible || isSeen(scalar)
    }
    guard direction.isClosed else { return closing }
    return isVisible ? nil : unseen
  }

  /// The fault of a text in which nothing is to be seen.
  package static let unseen = "must have a character that can be seen"

  /// Whether something is to be seen in a text.
  package static func isSeen(_ text: String) -> Bool { text.unicodeScalars.contains(where: isSeen) }

  private static let closing = "must close the marks of direction that it opens, and no other ones"

  /// Whether a character leaves ink by itself.
  private static func isSeen(_ scalar: Unicode.Scalar) -> Bool {
    guard !scalar.properties.isDefaultIgnorableCodePoint, !blanks.contains(scalar) else { return false }
    switch scalar.properties.generalCategory {
    case .control, .format, .surrogate, .spaceSeparator, .lineSeparator, .paragraphSeparator, .nonspacingMark,
      .enclosingMark:
      return false
    default: return true
    }
  }

  /// The blank pattern of Braille and the null notehead: symbols without ink.
  private static let blanks: Set<Unicode.Scalar> = ["\u{2800}", "\u{1D159}"]
}
