/// What is known of text that clients send, by its bytes: nothing of it is normalised before it is known or short.
extension String {
  /// Whether the text has at most a number of characters. What is too long is not read to its end.
  package func has(atMost limit: Int) -> Bool { utf8.count <= 4 * limit && unicodeScalars.count <= limit }
}

extension RawRepresentable<String> where Self: CaseIterable {
  /// The case whose name has the bytes of a text; nil: none.
  package init?(named text: String) {
    guard let found = Self.allCases.first(where: { $0.rawValue.utf8.elementsEqual(text.utf8) }) else { return nil }
    self = found
  }
}
