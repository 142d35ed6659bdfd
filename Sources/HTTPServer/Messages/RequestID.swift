/// The name of one request, by which a client's report, the log and the job it made find each other.
package struct RequestID: Sendable, Hashable, CustomStringConvertible {
  /// The header field that carries it both ways.
  package static let headerName = "X-Request-Id"

  package let description: String

  /// Takes over what a client or a proxy sent, if it is 1 to 64 letters, digits, `.`, `_` or `-`.
  package init?(_ text: String) {
    let isSane = text.utf8.allSatisfy { byte in
      byte == UInt8(ascii: ".") || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-")
        || (byte.isTokenCharacter && byte.isAlphanumericASCII)
    }
    guard isSane, (1...64).contains(text.utf8.count) else { return nil }
    description = text
  }

  /// Makes a new one of 128 random bits.
  package init() {
    description = [UInt64.random(in: .min ... .max), .random(in: .min ... .max)].map { bits in
      let digits = String(bits, radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }.joined()
  }
}

extension UInt8 {
  fileprivate var isAlphanumericASCII: Bool {
    let small = lowercasedASCII
    return (small >= UInt8(ascii: "a") && small <= UInt8(ascii: "z")) || (self >= 0x30 && self <= 0x39)
  }
}
