/// The header fields of a message, in the order they stood; names match whatever their case (RFC 9110 section 5.1).
package struct HeaderFields: Sendable, Hashable, ExpressibleByDictionaryLiteral {
  /// One line of the header section.
  package struct Field: Sendable, Hashable {
    package let name: String
    package let value: String
  }

  private var fields: [Field] = []

  package init() {}

  package init(dictionaryLiteral elements: (String, String)...) {
    for (name, value) in elements { append(name, value) }
  }

  /// Adds a line, whether or not the name is there already.
  package mutating func append(_ name: String, _ value: String) { fields.append(Field(name: name, value: value)) }

  /// The first value of a name; setting replaces all of them.
  package subscript(_ name: String) -> String? {
    get { fields.first { Self.equal($0.name, name) }?.value }
    set {
      fields.removeAll { Self.equal($0.name, name) }
      if let newValue { append(name, newValue) }
    }
  }

  /// All values of a name, in order.
  package func values(_ name: String) -> [String] {
    fields.filter { Self.equal($0.name, name) }.map(\.value)
  }

  /// The elements of a field that is a comma-separated list, over all its lines (RFC 9110 section 5.6.1).
  package func list(_ name: String) -> [Substring] {
    values(name).flatMap { $0.split(separator: ",") }.map(\.trimmingBlanks).filter { !$0.isEmpty }
  }

  private static func equal(_ left: String, _ right: String) -> Bool {
    left.utf8.count == right.utf8.count
      && zip(left.utf8, right.utf8).allSatisfy { $0.lowercasedASCII == $1.lowercasedASCII }
  }
}

extension HeaderFields: Sequence {
  package func makeIterator() -> IndexingIterator<[Field]> { fields.makeIterator() }
}
