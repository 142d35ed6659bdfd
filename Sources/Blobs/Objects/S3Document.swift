/// The XML of a response: elements without attributes, which lie in each other. Keys are percent-encoded in it, so that no text
/// that a client chose has a character of XML.
struct S3Document: Sendable {
  private let text: Substring

  init(_ bytes: [UInt8]) { text = Substring(String(decoding: bytes, as: UTF8.self)) }

  private init(_ text: Substring) { self.text = text }

  /// The contents of all elements of a name.
  func elements(_ name: String) -> [S3Document] {
    var found: [S3Document] = []
    var rest = text
    while let start = rest.firstRange(of: "<\(name)>"),
      let end = rest[start.upperBound...].firstRange(of: "</\(name)>")
    {
      found.append(S3Document(rest[start.upperBound..<end.lowerBound]))
      rest = rest[end.upperBound...]
    }
    return found
  }

  /// The text of the first element of a name; nil if there is none.
  func text(_ name: String) -> String? { elements(name).first.map { Self.unescaped($0.text) } }

  private static func unescaped(_ text: Substring) -> String {
    guard text.contains("&") else { return String(text) }
    return [
      ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&#34;", "\""), ("&#39;", "'"), ("&amp;", "&"),
    ]
    .reduce(String(text)) { $0.replacing($1.0, with: $1.1) }
  }

  /// Decodes a percent-encoded key; nil if it is not one.
  static func decoded(_ text: String) -> String? {
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
        continue
      }
      let digits = rest.prefix(2)
      guard digits.count == 2, let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16) else { return nil }
      bytes.append(value)
      rest = rest.dropFirst(2)
    }
    return String(validating: bytes, as: UTF8.self)
  }
}
