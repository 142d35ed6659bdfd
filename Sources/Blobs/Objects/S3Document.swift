/// The XML of a response: elements without attributes, which lie in each other. Keys are percent-encoded in it, so that no text
/// that a client chose has a character of XML.
struct S3Document: Sendable {
  private let text: Substring

  init(_ bytes: [UInt8]) { text = Substring(String(decoding: bytes, as: UTF8.self)) }

  private init(_ text: Substring) { self.text = text }

  /// The codes of errors which are not failures of the store, with the statuses that they have in responses of their own.
  private static let statuses = [
    "AccessDenied": 403, "ConditionalRequestConflict": 409, "EntityTooSmall": 400, "InvalidPart": 400,
    "InvalidPartOrder": 400,
    "NoSuchBucket": 404, "NoSuchUpload": 404, "OperationAborted": 409, "PreconditionFailed": 412,
  ]

  /// What a response with this body and a status says in the end: a store begins some responses with 200 before it has done what they say.
  func status(of status: Int) -> Int {
    guard 200..<300 ~= status, isOf("Error") else { return status }
    return Self.statuses[text("Code") ?? ""] ?? 500
  }

  /// Whether it is a document of this element.
  func isOf(_ name: String) -> Bool {
    var rest = text.drop(while: \.isWhitespace)
    if rest.starts(with: "<?xml"), let end = rest.firstRange(of: "?>") {
      rest = rest[end.upperBound...].drop(while: \.isWhitespace)
    }
    return ["<\(name)>", "<\(name) ", "<\(name)/>"].contains { rest.starts(with: $0) }
  }

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
