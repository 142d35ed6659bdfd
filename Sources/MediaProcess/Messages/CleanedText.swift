extension String {
  /// The number of Unicode scalars that a text of a reply may have; honest replies have a few hundred.
  static let maxReplyScalars = 2000

  /// The text cut to `maxReplyScalars`, with U+FFFD for everything that controls how text is shown or stored.
  var cleaned: String {
    if utf8.count <= Self.maxReplyScalars, utf8.allSatisfy({ 0x20..<0x7F ~= $0 }) { return self }
    var scalars = String.UnicodeScalarView()
    for scalar in unicodeScalars.prefix(Self.maxReplyScalars) {
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator: scalars.append("\u{FFFD}")
      default: scalars.append(scalar)
      }
    }
    return String(scalars)
  }
}
