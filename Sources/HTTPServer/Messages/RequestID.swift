/// The id of one request, which connects a client's report, the log and the job of the request.
package struct RequestID: Sendable, Hashable, CustomStringConvertible {
  /// The header field of the id, in requests and responses.
  package static let headerName = "X-Request-Id"

  package let description: String

  /// Uses an id that a client or a proxy sent; nil unless it is 1 to 64 letters, digits, `.`, `_` or `-`.
  package init?(_ text: String) {
    let isValid = text.utf8.allSatisfy { byte in
      byte == UInt8(ascii: ".") || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-")
        || (byte.isTokenCharacter && byte.isAlphanumericASCII)
    }
    guard isValid, (1...64).contains(text.utf8.count) else { return nil }
    description = text
  }

  /// Creates an id of 128 random bits.
  package init() {
    description = [UInt64.random(in: .min ... .max), .random(in: .min ... .max)].map { bits in
      let digits = String(bits, radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }.joined()
  }
}

extension UInt8 {
  fileprivate var isAlphanumericASCII: Bool {
    let letter = lowercasedASCII
    return (letter >= UInt8(ascii: "a") && letter <= UInt8(ascii: "z")) || (self >= 0x30 && self <= 0x39)
  }
}
