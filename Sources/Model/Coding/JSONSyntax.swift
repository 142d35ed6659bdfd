/// Where a text stops being JSON (RFC 8259), for people who write it by hand: the decoder of Foundation says it without a place on Linux.
package struct JSONSyntaxFault: Error, Sendable, Hashable, CustomStringConvertible {
  /// From 1.
  package let line: Int
  /// In characters, from 1.
  package let column: Int
  /// The expected text there, and the text that was found.
  package let reason: String

  package var place: String { "line \(line), column \(column)" }

  package var description: String { "\(place): \(reason)" }
}

extension JSON {
  /// Returns the first place at which a text is no JSON; nil if it is JSON, or no UTF-8.
  package static func syntaxFault(in bytes: [UInt8]) -> JSONSyntaxFault? {
    var text = JSONSyntax(bytes)
    do throws(JSONSyntax.Unexpected) {
      try text.read()
      return nil
    } catch {
      let before = bytes.prefix(text.index)
      let line = before.count { $0 == UInt8(ascii: "\n") } + 1
      // The bytes after the first one of a character count nothing.
      let column = before.reversed().prefix { $0 != UInt8(ascii: "\n") }.count { $0 & 0xC0 != 0x80 } + 1
      return JSONSyntaxFault(line: line, column: column, reason: error.reason)
    }
  }
}

/// Reads a JSON text, and keeps of it where numbers are that are no integers of at most 18 digits.
struct JSONSyntax {
  struct Unexpected: Error {
    let reason: String
  }

  // As deep as the decoder of Foundation goes.
  private static let maxDepth = 512

  private let bytes: [UInt8]
  private(set) var index: Int
  private var path: [PathKey] = []
  private var fractions: [(range: Range<Int>, path: [PathKey])] = []

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    index = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
  }

  /// The numbers that are no integers of at most 18 digits, in the order of the text; none of a text that is no JSON.
  static func fractions(in bytes: [UInt8]) -> [(range: Range<Int>, path: [PathKey])] {
    var text = JSONSyntax(bytes)
    do throws(Unexpected) { try text.read() } catch { return [] }
    return text.fractions
  }

  mutating func read() throws(Unexpected) {
    try value(depth: 0)
    if next() != nil { throw unexpected("the end of the file") }
  }

  /// The byte at `index`; nil at the end.
  private var current: UInt8? { index < bytes.count ? bytes[index] : nil }

  /// The next byte that is no white space, at `index`; nil at the end.
  private mutating func next() -> UInt8? {
    while let byte = current, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { index += 1 }
    return current
  }

  private mutating func skip(_ byte: Unicode.Scalar) -> Bool {
    guard next() == UInt8(ascii: byte) else { return false }
    index += 1
    return true
  }

  private mutating func value(depth: Int) throws(Unexpected) {
    guard depth < Self.maxDepth else { throw Unexpected(reason: "it is nested deeper than \(Self.maxDepth) levels") }
    switch next() {
    case UInt8(ascii: "{"): try members(depth: depth)
    case UInt8(ascii: "["): try elements(depth: depth)
    case UInt8(ascii: "\""): try string()
    case UInt8(ascii: "t"): try word("true")
    case UInt8(ascii: "f"): try word("false")
    case UInt8(ascii: "n"): try word("null")
    case let byte? where byte == UInt8(ascii: "-") || Self.isDigit(byte):
      let start = index
      try number()
      let digits = bytes[start..<index].drop { $0 == UInt8(ascii: "-") }
      if digits.count > 18 || !digits.allSatisfy(Self.isDigit) { fractions.append((start..<index, path)) }
    default: throw unexpected("a value")
    }
  }

  private mutating func members(depth: Int) throws(Unexpected) {
    index += 1
    if skip("}") { return }
    var isFirst = true
    repeat {
      guard next() == UInt8(ascii: "\"") else {
        throw unexpected(isFirst ? "a key in double quotes or '}'" : "a key in double quotes after the comma")
      }
      let start = index + 1
      try string()
      path.append(PathKey(stringValue: String(decoding: bytes[start..<index - 1], as: UTF8.self)))
      guard skip(":") else { throw unexpected("':' after the key") }
      try value(depth: depth + 1)
      path.removeLast()
      isFirst = false
    } while skip(",")
    guard skip("}") else { throw unexpected("',' or '}'") }
  }

  private mutating func elements(depth: Int) throws(Unexpected) {
    index += 1
    if skip("]") { return }
    var count = 0
    repeat {
      path.append(PathKey(intValue: count))
      try value(depth: depth + 1)
      path.removeLast()
      count += 1
    } while skip(",")
    guard skip("]") else { throw unexpected("',' or ']'") }
  }

  private mutating func string() throws(Unexpected) {
    index += 1
    while let byte = current, byte != UInt8(ascii: "\"") {
      guard byte >= 0x20 else { throw Unexpected(reason: "a text has no closing quote in its line") }
      index += 1
      guard byte == UInt8(ascii: "\\") else { continue }
      guard let escaped = current, "\"\\/bfnrtu".utf8.contains(escaped) else {
        throw unexpected("one of \" \\ / b f n r t u after '\\'")
      }
      index += 1
      guard escaped == UInt8(ascii: "u") else { continue }
      for _ in 0..<4 {
        guard let digit = current, "0123456789abcdefABCDEF".utf8.contains(digit) else {
          throw unexpected("four hexadecimal digits after '\\u'")
        }
        index += 1
      }
    }
    guard current != nil else { throw unexpected("a closing quote") }
    index += 1
  }

  private mutating func word(_ word: String) throws(Unexpected) {
    for byte in word.utf8 {
      guard current == byte else { throw unexpected(word) }
      index += 1
    }
  }

  private mutating func number() throws(Unexpected) {
    if current == UInt8(ascii: "-") { index += 1 }
    if current == UInt8(ascii: "0") {
      index += 1
      if let digit = current, Self.isDigit(digit) { throw Unexpected(reason: "a number begins with 0") }
    } else {
      try digits()
    }
    if current == UInt8(ascii: ".") {
      index += 1
      try digits()
    }
    guard current == UInt8(ascii: "e") || current == UInt8(ascii: "E") else { return }
    index += 1
    if current == UInt8(ascii: "+") || current == UInt8(ascii: "-") { index += 1 }
    try digits()
  }

  private mutating func digits() throws(Unexpected) {
    guard let first = current, Self.isDigit(first) else { throw unexpected("a digit") }
    while let byte = current, Self.isDigit(byte) { index += 1 }
  }

  private static func isDigit(_ byte: UInt8) -> Bool { UInt8(ascii: "0") <= byte && byte <= UInt8(ascii: "9") }

  private func unexpected(_ expected: String) -> Unexpected {
    guard let byte = current else { return Unexpected(reason: "expected \(expected), not the end of the file") }
    let found =
      0x21...0x7E ~= byte ? "'\(Unicode.Scalar(byte))'" : byte == 0x0A ? "the end of the line" : "another byte"
    let hint = byte == UInt8(ascii: "/") ? ": JSON has no comments" : ""
    return Unexpected(reason: "expected \(expected), not \(found)\(hint)")
  }
}
