internal import Platform

/// Reads one JSON text (RFC 8259) in a single pass over its bytes: the first byte of a value decides what it is.
///
/// Members are looked up by name: a name has a limit before it becomes a text, and no text has long runs of combining marks (`ExternalText`).
/// Of members with the same name the first is used. A byte order mark in front of the text is skipped.
struct JSONReader {
  /// The maximum length of the name of a member, in bytes; no client needs one that is half as long.
  static let maxNameBytes = 100

  /// The maximum number of members of an object, with those that are repeated.
  static let maxMembers = 256

  /// What a JSON text may not have; the text says what is wrong with it.
  package struct Refusal: Error, Hashable {
    let detail: String
  }

  private let bytes: [UInt8]
  private let maxDepth: Int
  private var index = 0
  private var remainingValues: Int

  /// - Parameters:
  ///   - maxDepth: the maximum number of arrays and objects around a value.
  ///   - maxValues: the maximum number of values, with arrays and objects.
  static func value(of bytes: [UInt8], maxDepth: Int, maxValues: Int) throws(Refusal) -> JSONValue {
    var reader = JSONReader(bytes: bytes, maxDepth: maxDepth, remainingValues: maxValues)
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { reader.index = 3 }
    let value = try reader.value(depth: 0)
    guard reader.next() == nil else { throw malformed }
    return value
  }

  private init(bytes: [UInt8], maxDepth: Int, remainingValues: Int) {
    self.bytes = bytes
    self.maxDepth = maxDepth
    self.remainingValues = remainingValues
  }

  private static let malformed = Refusal(detail: "is not valid JSON in UTF-8")

  /// The next byte that is no white space, at `index`; nil at the end.
  private mutating func next() -> UInt8? {
    while index < bytes.count {
      switch bytes[index] {
      case 0x20, 0x09, 0x0A, 0x0D: index += 1
      default: return bytes[index]
      }
    }
    return nil
  }

  /// Skips white space and a byte; returns false if another one is there.
  private mutating func skip(_ byte: Unicode.Scalar) -> Bool {
    guard next() == UInt8(ascii: byte) else { return false }
    index += 1
    return true
  }

  private mutating func value(depth: Int) throws(Refusal) -> JSONValue {
    guard depth <= maxDepth else { throw Refusal(detail: "is nested deeper than \(maxDepth) levels") }
    guard remainingValues > 0 else { throw Refusal(detail: "has too many values") }
    remainingValues -= 1
    switch next() {
    case UInt8(ascii: "{"): return .object(try members(depth: depth + 1))
    case UInt8(ascii: "["): return .array(try elements(depth: depth + 1))
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "t"): return try literal("true", .boolean(true))
    case UInt8(ascii: "f"): return try literal("false", .boolean(false))
    case UInt8(ascii: "n"): return try literal("null", .null)
    default: return .number(try number())
    }
  }

  private mutating func literal(_ text: StaticString, _ value: JSONValue) throws(Refusal) -> JSONValue {
    let end = index + text.utf8CodeUnitCount
    guard end <= bytes.count, text.withUTF8Buffer({ bytes[index..<end].elementsEqual($0) }) else {
      throw Self.malformed
    }
    index = end
    return value
  }

  private mutating func members(depth: Int) throws(Refusal) -> [String: JSONValue] {
    index += 1
    var members: [String: JSONValue] = [:]
    var count = 0
    if skip("}") { return members }
    repeat {
      count += 1
      guard count <= Self.maxMembers else {
        throw Refusal(detail: "has an object with more than \(Self.maxMembers) members")
      }
      guard next() == UInt8(ascii: "\"") else { throw Self.malformed }
      let name = try string(maxBytes: Self.maxNameBytes)
      guard skip(":") else { throw Self.malformed }
      let value = try value(depth: depth)
      if let first = members.updateValue(value, forKey: name) { members[name] = first }
    } while skip(",")
    guard skip("}") else { throw Self.malformed }
    return members
  }

  private mutating func elements(depth: Int) throws(Refusal) -> [JSONValue] {
    index += 1
    var elements: [JSONValue] = []
    if skip("]") { return elements }
    repeat { elements.append(try value(depth: depth)) } while skip(",")
    guard skip("]") else { throw Self.malformed }
    return elements
  }
}

extension JSONReader {
  /// The powers of ten that are exact as doubles.
  private static let powers = (0..<22).reduce(into: [1.0]) { powers, _ in powers.append((powers.last ?? 1) * 10) }

  /// Reads a number (section 6); it may be no larger than a double.
  private mutating func number() throws(Refusal) -> Double {
    let start = index
    var (digits, exponent) = (0, 0)
    let isNegative = skipSign("-")
    let leadingZero = index < bytes.count && bytes[index] == UInt8(ascii: "0")
    let whole = read(&digits)
    guard whole > 0, whole == 1 || !leadingZero else { throw Self.malformed }
    var (fraction, exponentDigits) = (0, 0)
    if index < bytes.count, bytes[index] == UInt8(ascii: ".") {
      index += 1
      fraction = read(&digits)
      guard fraction > 0 else { throw Self.malformed }
    }
    if index < bytes.count, bytes[index] | 0x20 == UInt8(ascii: "e") {
      index += 1
      let isSmall = skipSign("-")
      if !isSmall { skipSign("+") }
      exponentDigits = read(&exponent)
      guard exponentDigits > 0 else { throw Self.malformed }
      if isSmall { exponent = 0 &- exponent }
    }
    // The digits and the power are exact, so that one operation rounds right (Clinger, "How to Read Floating Point Numbers Accurately").
    let power = exponent &- fraction
    if whole + fraction <= 15, exponentDigits <= 2, abs(power) < Self.powers.count {
      let number = power < 0 ? Double(digits) / Self.powers[-power] : Double(digits) * Self.powers[power]
      return isNegative ? -number : number
    }
    guard let number = Double(String(decoding: bytes[start..<index], as: UTF8.self)), number.isFinite else {
      throw Self.malformed
    }
    return number
  }

  @discardableResult
  private mutating func skipSign(_ sign: Unicode.Scalar) -> Bool {
    guard index < bytes.count, bytes[index] == UInt8(ascii: sign) else { return false }
    index += 1
    return true
  }

  /// Reads digits behind those that were read before; returns their number. The value of more than 18 is not theirs.
  private mutating func read(_ value: inout Int) -> Int {
    let start = index
    while index < bytes.count, 0x30...0x39 ~= bytes[index] {
      value = value &* 10 &+ Int(bytes[index] &- 0x30)
      index += 1
    }
    return index - start
  }

  /// Reads a string (section 7) from its opening quotation mark.
  ///
  /// - Parameter maxBytes: of the name of a member; nil: of a value, which has the limit of its field.
  private mutating func string(maxBytes: Int? = nil) throws(Refusal) -> String {
    index += 1
    var unescaped: [UInt8] = []
    var start = index
    while index < bytes.count {
      switch bytes[index] {
      case UInt8(ascii: "\""):
        let rest = bytes[start..<index]
        index += 1
        if let maxBytes, unescaped.count + rest.count > maxBytes {
          throw Refusal(detail: "has a member whose name is longer than \(maxBytes) bytes")
        }
        // As nearly all are, of which a body may have thousands.
        if unescaped.isEmpty, rest.count <= Self.maxNameBytes, rest.allSatisfy({ $0 < 0x80 }) {
          return String(decoding: rest, as: UTF8.self)
        }
        if !unescaped.isEmpty { unescaped += rest }
        let text =
          unescaped.isEmpty
          ? rest.withUnsafeBytes { ExternalText.decode($0) } : unescaped.withUnsafeBytes { ExternalText.decode($0) }
        guard let text else {
          throw Refusal(detail: "has a text that is not \(ExternalText.expected)")
        }
        return text
      case UInt8(ascii: "\\"):
        if start < index { unescaped += bytes[start..<index] }
        index += 1
        let scalar = try escaped()
        if scalar.isASCII {
          unescaped.append(UInt8(truncatingIfNeeded: scalar.value))
        } else {
          unescaped += String(scalar).utf8
        }
        start = index
      case 0..<0x20: throw Self.malformed
      default: index += 1
      }
    }
    throw Self.malformed
  }

  /// Reads what stands behind a backslash.
  private mutating func escaped() throws(Refusal) -> Unicode.Scalar {
    guard index < bytes.count else { throw Self.malformed }
    let byte = bytes[index]
    index += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{C}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"): return try codePoint()
    default: throw Self.malformed
    }
  }

  /// Reads the four digits behind `\u`; of a surrogate, the other one as well. One alone stands for no character.
  private mutating func codePoint() throws(Refusal) -> Unicode.Scalar {
    var value = try fourDigits()
    if 0xD800...0xDBFF ~= value {
      guard index + 1 < bytes.count, bytes[index] == UInt8(ascii: "\\"), bytes[index + 1] == UInt8(ascii: "u") else {
        throw Self.malformed
      }
      index += 2
      let low = try fourDigits()
      guard 0xDC00...0xDFFF ~= low else { throw Self.malformed }
      value = 0x10000 + (value - 0xD800) << 10 + (low - 0xDC00)
    }
    guard let scalar = Unicode.Scalar(value) else { throw Self.malformed }
    return scalar
  }

  private mutating func fourDigits() throws(Refusal) -> UInt32 {
    guard index + 4 <= bytes.count else { throw Self.malformed }
    var value: UInt32 = 0
    for byte in bytes[index..<index + 4] {
      switch byte {
      case 0x30...0x39: value = value << 4 | UInt32(byte - 0x30)
      case 0x41...0x46, 0x61...0x66: value = value << 4 | UInt32((byte | 0x20) - 0x57)
      default: throw Self.malformed
      }
    }
    index += 4
    return value
  }
}
