/// The marks by which a text changes the direction of what follows (UAX 9, sections 2.1 to 2.5).
package struct DirectionMarks: Sendable {
  /// Left-to-right and right-to-left override.
  static let overrides: Set<Unicode.Scalar> = ["\u{202D}", "\u{202E}"]
  private static let embeddings: Set<Unicode.Scalar> = overrides.union(["\u{202A}", "\u{202B}"])
  private static let isolates: Set<Unicode.Scalar> = ["\u{2066}", "\u{2067}", "\u{2068}"]
  private static let endOfEmbedding: Unicode.Scalar = "\u{202C}"
  private static let endOfIsolate: Unicode.Scalar = "\u{2069}"
  private static let firstStrongIsolate: Unicode.Scalar = "\u{2068}"

  /// The ends of the open marks.
  private var open: [Unicode.Scalar] = []

  package init() {}

  /// Whether everything that was opened is closed.
  var isClosed: Bool { open.isEmpty }

  /// Takes the next character; false if it closes what was not opened.
  mutating func take(_ scalar: Unicode.Scalar) -> Bool {
    if Self.embeddings.contains(scalar) {
      open.append(Self.endOfEmbedding)
    } else if Self.isolates.contains(scalar) {
      open.append(Self.endOfIsolate)
    } else if scalar == Self.endOfEmbedding {
      guard open.last == Self.endOfEmbedding else { return false }
      open.removeLast()
    } else if scalar == Self.endOfIsolate {
      // It closes the embeddings inside as well.
      guard let last = open.lastIndex(of: Self.endOfIsolate) else { return false }
      open.removeSubrange(last...)
    }
    return true
  }

  /// A text as a part of another one, whose direction it leaves alone: without the marks that close nothing of its own, with an end for
  /// all that it opens, and isolated if some of it runs from right to left.
  package static func isolated(_ text: String) -> String {
    var marks = DirectionMarks()
    var scalars = String.UnicodeScalarView()
    var isIsolated = false
    for scalar in text.unicodeScalars {
      let isMark = embeddings.contains(scalar) || isolates.contains(scalar)
      isIsolated = isIsolated || isMark || runsFromRight(scalar)
      if marks.take(scalar) { scalars.append(scalar) }
    }
    guard isIsolated else { return String(scalars) }
    return String(firstStrongIsolate) + String(scalars) + marks.open.reversed().map { String($0) }.joined()
      + String(endOfIsolate)
  }

  /// Whether a letter belongs to a script that runs from right to left: the blocks that Unicode keeps for these, and the mark of this direction.
  private static func runsFromRight(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x590...0x8FF, 0x200F, 0xFB1D...0xFDFF, 0xFE70...0xFEFF, 0x10800...0x10FFF, 0x1E800...0x1EFFF: true
    default: false
    }
  }
}
