internal import HTTPServer

/// The value of a header field that is an item of a structured field (RFC 9651, section 3.3). Parameters are skipped: those of
/// uploads have none that mean anything.
enum StructuredItem: Sendable, Hashable {
  case integer(Int64)
  case boolean(Bool)
  /// An item of another type.
  case other

  /// Reads a field; nil if it is missing, sent twice, or not an item. A recipient ignores such a field.
  init?(_ headers: HeaderFields, _ name: String) {
    let values = headers.values(name)
    guard values.count == 1 else { return nil }
    var parser = StructuredItemParser(values[0])
    guard let item = parser.parse() else { return nil }
    self = item
  }

  /// A number of bytes; nil: a negative number or another type.
  var count: Int64? { if case .integer(let number) = self, number >= 0 { number } else { nil } }

  var boolean: Bool? { if case .boolean(let value) = self { value } else { nil } }
}

private struct StructuredItemParser {
  private var rest: Substring.UTF8View

  init(_ text: String) { rest = Substring(text).utf8 }

  mutating func parse() -> StructuredItem? {
    skipSpaces()
    guard let item = bareItem() else { return nil }
    while skip(";") {
      skipSpaces()
      guard key() else { return nil }
      if skip("=") { guard bareItem() != nil else { return nil } }
    }
    skipSpaces()
    return rest.isEmpty ? item : nil
  }

  private mutating func bareItem() -> StructuredItem? {
    switch rest.first {
    case UInt8(ascii: "?"):
      rest.removeFirst()
      return skip("1") ? .boolean(true) : skip("0") ? .boolean(false) : nil
    case UInt8(ascii: "@"):
      rest.removeFirst()
      guard case .integer = number() else { return nil }
      return .other
    case UInt8(ascii: "\""): return string()
    case UInt8(ascii: ":"):
      rest.removeFirst()
      take { Self.isLetter($0) || Self.isDigit($0) || "+/=".utf8.contains($0) }
      return skip(":") ? .other : nil
    case let byte? where Self.isDigit(byte) || byte == UInt8(ascii: "-"): return number()
    case let byte? where Self.isLetter(byte) || byte == UInt8(ascii: "*"):
      take { Self.isLetter($0) || Self.isDigit($0) || "!#$%&'*+-.^_`|~:/".utf8.contains($0) }
      return .other
    default: return nil
    }
  }

  /// An integer of at most 15 digits, or a decimal of at most 12 and 3.
  private mutating func number() -> StructuredItem? {
    let sign: Int64 = skip("-") ? -1 : 1
    let digits = take(Self.isDigit)
    guard skip(".") else {
      guard 1...15 ~= digits.count, let number = Int64(String(digits)!) else { return nil }
      return .integer(sign * number)
    }
    return 1...12 ~= digits.count && 1...3 ~= take(Self.isDigit).count ? .other : nil
  }

  private mutating func string() -> StructuredItem? {
    rest.removeFirst()
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "\""): return .other
      case UInt8(ascii: "\\"):
        guard let escaped = rest.popFirst(), "\"\\".utf8.contains(escaped) else { return nil }
      case 0x20..<0x7F: break
      default: return nil
      }
    }
    return nil
  }

  /// The name of a parameter.
  private mutating func key() -> Bool {
    guard let first = rest.first, 0x61...0x7A ~= first || first == UInt8(ascii: "*") else { return false }
    take { 0x61...0x7A ~= $0 || Self.isDigit($0) || "_-.*".utf8.contains($0) }
    return true
  }

  private mutating func skip(_ character: Unicode.Scalar) -> Bool {
    guard rest.first == UInt8(ascii: character) else { return false }
    rest.removeFirst()
    return true
  }

  private mutating func skipSpaces() { take { $0 == 0x20 } }

  @discardableResult
  private mutating func take(_ isPart: (UInt8) -> Bool) -> Substring.UTF8View {
    let taken = rest.prefix(while: isPart)
    rest = rest[taken.endIndex...]
    return taken
  }

  private static func isDigit(_ byte: UInt8) -> Bool { 0x30...0x39 ~= byte }
  private static func isLetter(_ byte: UInt8) -> Bool { 0x41...0x5A ~= byte || 0x61...0x7A ~= byte }
}
