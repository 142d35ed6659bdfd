/// The name of a record outside the service: a UUID of version 7, sortable by the time it was made (RFC 9562, section 5.7).
package struct PublicID: Hashable, Sendable, Comparable {
  /// The first half of its bits, the time in front.
  package let high: UInt64
  /// The second half.
  package let low: UInt64

  /// The id of these bits.
  package init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// Makes an id.
  ///
  /// - Parameters:
  ///   - milliseconds: the time since 1970-01-01 UTC.
  ///   - random: where the 74 random bits come from.
  package init(milliseconds: UInt64, random: inout some RandomNumberGenerator) {
    high = (milliseconds & 0xFFFF_FFFF_FFFF) << 16 | 0x7000 | (random.next() & 0x0FFF)
    low = 0x8000_0000_0000_0000 | (random.next() & 0x3FFF_FFFF_FFFF_FFFF)
  }

  /// When it was made, in seconds since 1970-01-01 UTC, by the clock of whoever made it.
  package var seconds: Double { Double(high >> 16) / 1000 }

  /// Reads the usual text form, `8-4-4-4-12` hexadecimal digits; nil if it is anything else.
  package init?(_ text: some StringProtocol) {
    let bytes = Array(text.utf8)
    guard bytes.count == 36 else { return nil }
    var digits: (high: UInt64, low: UInt64) = (0, 0)
    var count = 0
    for (index, byte) in bytes.enumerated() {
      if index == 8 || index == 13 || index == 18 || index == 23 {
        guard byte == UInt8(ascii: "-") else { return nil }
        continue
      }
      guard let digit = Self.value(ofHexadecimal: byte) else { return nil }
      if count < 16 { digits.high = digits.high << 4 | digit } else { digits.low = digits.low << 4 | digit }
      count += 1
    }
    (high, low) = digits
  }

  private static func value(ofHexadecimal byte: UInt8) -> UInt64? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt64(byte - UInt8(ascii: "0"))
    case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt64(byte - UInt8(ascii: "a") + 10)
    case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt64(byte - UInt8(ascii: "A") + 10)
    default: nil
    }
  }

  package static func < (left: PublicID, right: PublicID) -> Bool {
    (left.high, left.low) < (right.high, right.low)
  }
}

extension PublicID: CustomStringConvertible {
  /// The usual text form in lower case.
  package var description: String {
    let digits = Array("0123456789abcdef".utf8)
    var text: [UInt8] = []
    text.reserveCapacity(36)
    for index in 0..<32 {
      if index == 8 || index == 12 || index == 16 || index == 20 { text.append(UInt8(ascii: "-")) }
      let word = index < 16 ? high : low
      text.append(digits[Int(word >> UInt64(60 - (index % 16) * 4) & 0xF)])
    }
    return String(decoding: text, as: UTF8.self)
  }
}

extension PublicID: Codable {
  package init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let id = PublicID(try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a UUID")
    }
    self = id
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}
