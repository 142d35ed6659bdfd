/// A header value with parameters, such as `form-data; name="front"` (RFC 9110 section 5.6.6).
struct HeaderParameters: Hashable {
  /// What stands before the first semicolon, in small letters.
  let value: String
  private var parameters: [String: String] = [:]

  /// Reads a value; nil when it is malformed or names a parameter twice.
  init?(_ text: String) {
    var rest = text.utf8[...]
    value = Self.take(&rest) { $0 != UInt8(ascii: ";") }.trimmingBlanks.lowercasedASCII
    while rest.popFirst() != nil {
      let name = Self.take(&rest) { $0 != UInt8(ascii: "=") && $0 != UInt8(ascii: ";") }.trimmingBlanks.lowercasedASCII
      if name.isEmpty, rest.first != UInt8(ascii: "=") { continue }
      guard rest.popFirst() == UInt8(ascii: "="), let value = Self.takeValue(&rest) else { return nil }
      guard name.utf8.allSatisfy(\.isTokenCharacter), parameters.updateValue(value, forKey: name) == nil else {
        return nil
      }
    }
  }

  /// A parameter by its name in small letters.
  subscript(_ name: String) -> String? { parameters[name] }

  private static func take(_ rest: inout Substring.UTF8View, while condition: (UInt8) -> Bool) -> String {
    let taken = rest.prefix(while: condition)
    rest = rest[taken.endIndex...]
    return String(Substring(taken))
  }

  private static func takeValue(_ rest: inout Substring.UTF8View) -> String? {
    let isBlank: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 }
    _ = take(&rest, while: isBlank)
    guard rest.first == UInt8(ascii: "\"") else {
      return String(take(&rest) { $0 != UInt8(ascii: ";") }.trimmingBlanks)
    }
    rest.removeFirst()
    var bytes: [UInt8] = []
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "\""):
        _ = take(&rest, while: isBlank)
        guard rest.isEmpty || rest.first == UInt8(ascii: ";") else { return nil }
        return String(validating: bytes, as: UTF8.self)
      case UInt8(ascii: "\\"):
        // Browsers send the backslashes of a file's name as they are: only a quoted quote or backslash is an escape.
        if let next = rest.first, next == UInt8(ascii: "\"") || next == UInt8(ascii: "\\") {
          bytes.append(next)
          rest.removeFirst()
        } else {
          bytes.append(byte)
        }
      default: bytes.append(byte)
      }
    }
    return nil
  }
}
