internal import Platform

/// The header of a part of a form (RFC 7578, section 4).
package struct PartHeader: Sendable, Hashable {
  /// The name of the form field.
  package let name: String
  /// The file name that the client sent; never a path to open.
  package let filename: String?
  /// The Content-Type as received; nil means text/plain.
  package let contentType: String?

  /// Parses the lines of a header section, without the empty line at its end.
  init(lines: [ArraySlice<UInt8>]) throws(MultipartError) {
    var fields = HeaderFields()
    for line in lines {
      guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { throw .badHeader }
      let name = line[..<colon]
      guard !name.isEmpty, name.allSatisfy(\.isTokenCharacter),
        let value = ExternalText.decode(line[(colon + 1)...]),
        value.utf8.allSatisfy({ $0 >= 0x20 || $0 == 0x09 })
      else { throw .badHeader }
      fields.append(String(decoding: name, as: UTF8.self), String(value.trimmingBlanks))
    }
    guard let disposition = fields["Content-Disposition"].flatMap(HeaderParameters.init),
      disposition.value == "form-data", let name = disposition["name"], !name.isEmpty
    else { throw .unnamedPart }
    let encoding = fields["Content-Transfer-Encoding"]?.lowercasedASCII ?? "binary"
    guard ["binary", "7bit", "8bit"].contains(encoding) else { throw .encodedPart(name: name) }
    self.name = name
    filename = disposition["filename"]
    contentType = fields["Content-Type"]
  }
}

/// A header value with parameters, such as `form-data; name="front"` (RFC 9110, section 5.6.6).
struct HeaderParameters: Hashable {
  /// The value before the first semicolon, in lowercase.
  let value: String
  private var parameters: [String: String] = [:]

  /// Parses a value; nil if it is malformed or repeats a parameter.
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

  /// The value of a parameter, by its name in lowercase.
  subscript(_ name: String) -> String? { parameters[name] }

  private static func take(_ rest: inout Substring.UTF8View, while condition: (UInt8) -> Bool) -> String {
    let taken = rest.prefix(while: condition)
    rest = rest[taken.endIndex...]
    return String(Substring(taken))
  }

  private static func takeValue(_ rest: inout Substring.UTF8View) -> String? {
    _ = take(&rest, while: \.isBlank)
    guard rest.first == UInt8(ascii: "\"") else {
      return String(take(&rest) { $0 != UInt8(ascii: ";") }.trimmingBlanks)
    }
    rest.removeFirst()
    var bytes: [UInt8] = []
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "\""):
        _ = take(&rest, while: \.isBlank)
        guard rest.isEmpty || rest.first == UInt8(ascii: ";") else { return nil }
        return ExternalText.decode(bytes)
      case UInt8(ascii: "\\"):
        // Browsers do not escape backslashes in file names: only an escaped quote or backslash is an escape.
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
