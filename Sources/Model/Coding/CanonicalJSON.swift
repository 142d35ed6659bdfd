extension JSON {
  /// The canonical form of JSON text (RFC 8785, JSON Canonicalization Scheme): what hashes are computed from.
  ///
  /// Stored hashes of definitions and recipes stay valid only if equal values give equal bytes in every version of the
  /// program, and so the bytes do not depend on the encoder that wrote the text. There is no white space. The members of
  /// an object are sorted by the UTF-16 code units of their keys. A number has the digits and the exponent that
  /// ECMAScript prints: `30`, `0.00001`, `1e-7`. Strings escape `"`, `\` and control characters, and nothing else. Unlike
  /// in RFC 8785, integers above 2^53 are not rounded.
  ///
  /// The hashes of earlier versions, which were computed from the text of `encode`, remain: it is the same text, except
  /// for a `Double` whose magnitude is above 2^53, or below 0.0001 and not zero (other exponents), negative zero, NUL in
  /// a string (the escape of U+FFFD) and keys outside the Basic Multilingual Plane (another order). No definition of the
  /// service has one of these. A plan has one only if the headers of a clip do, and then its outputs are made once more.
  package static func canonical(_ text: [UInt8]) throws -> [UInt8] {
    var reader = CanonicalReader(text)
    let value = try reader.value()
    guard reader.next == nil else { throw reader.malformed }
    return value
  }
}

/// Reads JSON and returns its values in the canonical form.
private struct CanonicalReader {
  var rest: ArraySlice<UInt8>
  private var depth = 0

  // As deep as Foundation's decoder reads.
  private static let maxDepth = 512

  init(_ text: [UInt8]) { rest = text[...] }

  var malformed: DecodingError { .dataCorrupted(.init(codingPath: [], debugDescription: "malformed JSON")) }

  /// The next byte that is not white space; nil at the end.
  var next: UInt8? {
    mutating get {
      rest = rest.drop { " \t\n\r".utf8.contains($0) }
      return rest.first
    }
  }

  mutating func value() throws -> [UInt8] {
    switch next {
    case UInt8(ascii: "{"): try object()
    case UInt8(ascii: "["): try array()
    case UInt8(ascii: "\""): Self.quoted(try string())
    default: try scalar()
    }
  }

  private mutating func take(_ text: Unicode.Scalar) -> Bool {
    guard next == UInt8(ascii: text) else { return false }
    rest.removeFirst()
    return true
  }

  private mutating func object() throws -> [UInt8] {
    var members: [(key: String, value: [UInt8])] = []
    try elements(until: "}") { (reader) throws in
      guard reader.next == UInt8(ascii: "\"") else { throw reader.malformed }
      let key = try reader.string()
      guard reader.take(":") else { throw reader.malformed }
      members.append((key, try reader.value()))
    }
    members.sort { $0.key.utf16.lexicographicallyPrecedes($1.key.utf16) }
    return Array("{".utf8) + members.map { Self.quoted($0.key) + ":".utf8 + $0.value }.joined(separator: ",".utf8)
      + "}".utf8
  }

  private mutating func array() throws -> [UInt8] {
    var values: [[UInt8]] = []
    try elements(until: "]") { (reader) throws in values.append(try reader.value()) }
    return Array("[".utf8) + values.joined(separator: ",".utf8) + "]".utf8
  }

  private mutating func elements(until end: Unicode.Scalar, _ read: (inout Self) throws -> Void) throws {
    rest.removeFirst()
    depth += 1
    defer { depth -= 1 }
    guard depth <= Self.maxDepth else { throw malformed }
    if take(end) { return }
    repeat { try read(&self) } while take(",")
    guard take(end) else { throw malformed }
  }

  /// A number or a literal.
  private mutating func scalar() throws -> [UInt8] {
    let bytes = rest.prefix { !",]} \t\n\r".utf8.contains($0) }
    rest = rest.dropFirst(bytes.count)
    let text = String(decoding: bytes, as: UTF8.self)
    if ["true", "false", "null"].contains(text) { return Array(bytes) }
    if let integer = Int64(text) { return Array(String(integer).utf8) }
    guard let number = Double(text), number.isFinite else { throw malformed }
    return Array(Self.ecmaScript(number).utf8)
  }

  /// A number as ECMAScript prints it (ECMA-262, Number::toString).
  ///
  /// Swift prints the same digits, the fewest that identify the number, but other exponents.
  private static func ecmaScript(_ number: Double) -> String {
    if number == 0 { return "0" }
    let parts = number.magnitude.description.split(separator: "e")
    let sides = parts[0].split(separator: ".")
    let all = sides.joined()
    var digits = String(all.drop { $0 == "0" })
    // The number is 0.DIGITS times ten to the power of `point`.
    let point = sides[0].count + (parts.count > 1 ? Int(parts[1]) ?? 0 : 0) - (all.count - digits.count)
    while digits.last == "0" { digits.removeLast() }
    let sign = number < 0 ? "-" : ""
    switch point {
    case digits.count...21:
      return sign + digits + String(repeating: "0", count: point - digits.count)
    case 1...21: return sign + digits.prefix(point) + "." + digits.dropFirst(point)
    case -5...0: return sign + "0." + String(repeating: "0", count: -point) + digits
    default:
      let fraction = digits.count > 1 ? "." + digits.dropFirst() : ""
      return sign + digits.prefix(1) + fraction + (point > 0 ? "e+" : "e") + String(point - 1)
    }
  }
}

extension CanonicalReader {
  private static let escapes: [(letter: UInt8, byte: UInt8)] = [
    (UInt8(ascii: "b"), 0x08), (UInt8(ascii: "t"), 0x09), (UInt8(ascii: "n"), 0x0A), (UInt8(ascii: "f"), 0x0C),
    (UInt8(ascii: "r"), 0x0D),
  ]

  private mutating func string() throws -> String {
    rest.removeFirst()
    var bytes: [UInt8] = []
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "\""): return String(decoding: bytes, as: UTF8.self)
      case UInt8(ascii: "\\"): bytes += try escaped()
      default: bytes.append(byte)
      }
    }
    throw malformed
  }

  private mutating func escaped() throws -> [UInt8] {
    guard let letter = rest.popFirst() else { throw malformed }
    guard letter == UInt8(ascii: "u") else {
      return [Self.escapes.first { $0.letter == letter }?.byte ?? letter]
    }
    var units = [try codeUnit()]
    if UTF16.isLeadSurrogate(units[0]), rest.starts(with: "\\u".utf8) {
      rest.removeFirst(2)
      units.append(try codeUnit())
    }
    return Array(String(decoding: units, as: UTF16.self).utf8)
  }

  private mutating func codeUnit() throws -> UInt16 {
    let digits = rest.prefix(4)
    guard digits.count == 4, let unit = UInt16(String(decoding: digits, as: UTF8.self), radix: 16) else {
      throw malformed
    }
    rest.removeFirst(4)
    return unit
  }

  private static func quoted(_ text: String) -> [UInt8] {
    var bytes = Array("\"".utf8)
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
      case ..<0x20:
        if let letter = escapes.first(where: { $0.byte == byte })?.letter {
          bytes += [UInt8(ascii: "\\"), letter]
        } else {
          bytes += "\\u00\(byte < 0x10 ? "0" : "")\(String(byte, radix: 16))".utf8
        }
      default: bytes.append(byte)
      }
    }
    bytes.append(UInt8(ascii: "\""))
    return bytes
  }
}
