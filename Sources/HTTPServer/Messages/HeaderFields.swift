/// The header fields of a message, in their original order; names are case-insensitive (RFC 9110, section 5.1).
package struct HeaderFields: Sendable, Hashable, ExpressibleByDictionaryLiteral {
  /// One field line of the header section.
  package struct Field: Sendable, Hashable {
    package let name: String
    package let value: String
  }

  private var fields: [Field] = []

  package init() {}

  package init(dictionaryLiteral elements: (String, String)...) {
    for (name, value) in elements { append(name, value) }
  }

  /// Adds a field line, even if the name already exists.
  package mutating func append(_ name: String, _ value: String) { fields.append(Field(name: name, value: value)) }

  /// The first value of a name; setting it replaces all values.
  package subscript(_ name: String) -> String? {
    get { fields.first { Self.equal($0.name.utf8, name) }?.value }
    set {
      fields.removeAll { Self.equal($0.name.utf8, name) }
      if let newValue { append(name, newValue) }
    }
  }

  /// Returns the fields with one more.
  package func adding(_ name: String, _ value: String) -> HeaderFields {
    var fields = self
    fields.append(name, value)
    return fields
  }

  /// All values of a name, in order.
  package func values(_ name: String) -> [String] {
    fields.filter { Self.equal($0.name.utf8, name) }.map(\.value)
  }

  /// The length of a list, in bytes, above which it counts as absent where its elements are preferences.
  package static let maxPreferences = 1024

  /// The elements of a comma-separated list field, of all its field lines (RFC 9110, section 5.6.1), unless they are longer than a limit.
  package func list(_ name: String, maxBytes: Int = maxPreferences) -> [Substring] {
    guard bytes(of: name) <= maxBytes else { return [] }
    var elements: [Substring] = []
    visitElements(of: name, separatedBy: UInt8(ascii: ",")) {
      elements.append(Substring(String(decoding: $0, as: UTF8.self)))
      return true
    }
    return elements.reversed()
  }

  /// The length of the values of a name.
  package func bytes(of name: String) -> Int {
    fields.reduce(0) { Self.equal($1.name.utf8, name) ? $0 + $1.value.utf8.count : $0 }
  }

  /// Whether a comma-separated list field has an element, in any case, and whether it has others.
  package func elements(of name: String, equalTo element: String) -> (hasElement: Bool, hasOthers: Bool) {
    var (hasElement, hasOthers) = (false, false)
    visitElements(of: name, separatedBy: UInt8(ascii: ",")) {
      if $0.count == element.utf8.count, Self.equal($0, element) { hasElement = true } else { hasOthers = true }
      return !(hasElement && hasOthers)
    }
    return (hasElement, hasOthers)
  }

  /// Calls a function with each element of a field, from the last one of its last field line to the first, without the blanks around it,
  /// until it returns false; none is empty.
  ///
  /// Nothing is stored for an element, and its bytes are in memory: connections ask this of each head, however long its fields are.
  package func visitElements(
    of name: String, separatedBy separator: UInt8, _ visit: (UnsafeBufferPointer<UInt8>) -> Bool
  ) {
    for field in fields.reversed() where Self.equal(field.name.utf8, name) {
      var value = field.value
      let continues = value.withUTF8 { bytes in
        var end = bytes.count
        for start in stride(from: bytes.count, through: 0, by: -1) where start == 0 || bytes[start - 1] == separator {
          var element = bytes[..<end].dropFirst(start)
          while element.first?.isBlank == true { element.removeFirst() }
          while element.last?.isBlank == true { element.removeLast() }
          if !element.isEmpty, !visit(UnsafeBufferPointer(rebasing: element)) { return false }
          end = start - 1
        }
        return true
      }
      guard continues else { return }
    }
  }

  private static func equal(_ left: some Collection<UInt8>, _ right: String) -> Bool {
    left.elementsEqual(right.utf8) { $0.lowercasedASCII == $1.lowercasedASCII }
  }
}

extension HeaderFields: Sequence {
  package func makeIterator() -> IndexingIterator<[Field]> { fields.makeIterator() }
}

// Text of the protocol is split, trimmed and compared as bytes: to a Character belongs also what combines with it, so that a
// comma beside a combining character would be no comma. `make lint` refuses Characters here.

extension UInt8 {
  /// The byte, with an ASCII uppercase letter converted to lowercase.
  var lowercasedASCII: UInt8 { self >= 0x41 && self <= 0x5A ? self | 0x20 : self }

  /// Whether the byte is a space or a tab.
  var isBlank: Bool { self == 0x20 || self == 0x09 }

  /// Whether a token, such as a method or a field name, may contain the byte (RFC 9110, section 5.6.2).
  var isTokenCharacter: Bool {
    switch self {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    case UInt8(ascii: "!"), UInt8(ascii: "#")...UInt8(ascii: "'"), UInt8(ascii: "*"), UInt8(ascii: "+"),
      UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "^")...UInt8(ascii: "`"), UInt8(ascii: "|"), UInt8(ascii: "~"):
      true
    default: false
    }
  }

  /// Whether a host with a port may contain the byte: a name, or an address in brackets (RFC 3986, section 3.2.2).
  var isHostCharacter: Bool {
    switch self {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"), UInt8(ascii: ":"),
      UInt8(ascii: "["), UInt8(ascii: "]"):
      true
    default: false
    }
  }

  /// The value of a hexadecimal digit; nil for other bytes.
  var hexadecimalValue: UInt8? {
    switch self {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}

extension StringProtocol {
  /// The text, with ASCII uppercase letters converted to lowercase.
  package var lowercasedASCII: String { String(decoding: utf8.map(\.lowercasedASCII), as: UTF8.self) }

  /// The text without leading and trailing spaces and tabs.
  package var trimmingBlanks: Substring {
    var rest = Substring(self).utf8
    while rest.first?.isBlank == true { rest.removeFirst() }
    while rest.last?.isBlank == true { rest.removeLast() }
    return Substring(rest)
  }
}
