/// A SHA-256 digest (FIPS 180-4), the name of a blob and its strong ETag.
package struct SHA256Digest: Hashable, Sendable {
  /// Its length in bytes.
  package static let count = 32

  /// The 32 bytes.
  package let bytes: [UInt8]

  /// Takes exactly 32 bytes; nil otherwise.
  package init?(bytes: [UInt8]) {
    guard bytes.count == Self.count else { return nil }
    self.bytes = bytes
  }

  /// Reads 64 hexadecimal digits of either case; nil otherwise.
  package init?(hex: some StringProtocol) {
    let digits = Array(hex.utf8)
    guard digits.count == Self.count * 2 else { return nil }
    var bytes: [UInt8] = []
    for index in stride(from: 0, to: digits.count, by: 2) {
      guard let high = Self.value(of: digits[index]), let low = Self.value(of: digits[index + 1]) else { return nil }
      bytes.append(high << 4 | low)
    }
    self.bytes = bytes
  }

  /// 64 lower-case hexadecimal digits.
  package var hex: String {
    let digits = Array("0123456789abcdef".utf8)
    return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }

  private static func value(of digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}

extension SHA256Digest: Comparable {
  /// Compares bytes; locks on blobs are taken in this order.
  package static func < (one: SHA256Digest, other: SHA256Digest) -> Bool {
    one.bytes.lexicographicallyPrecedes(other.bytes)
  }
}

extension SHA256Digest: CustomStringConvertible {
  package var description: String { hex }
}

extension SHA256Digest: Codable {
  /// Reads the hexadecimal form.
  package init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let digest = SHA256Digest(hex: try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "not 64 hexadecimal digits")
    }
    self = digest
  }

  /// Writes the hexadecimal form.
  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(hex)
  }
}
