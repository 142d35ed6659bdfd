import FoundationEssentials
import Synchronization

/// The public id of a record: a UUID of version 7, which sorts by time of creation (RFC 9562, section 5.7).
package struct PublicID: Hashable, Sendable, Comparable {
  /// The upper 64 bits, which begin with the time.
  package let high: UInt64
  /// The lower 64 bits.
  package let low: UInt64

  package init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// Creates an id.
  ///
  /// - Parameters:
  ///   - milliseconds: the time since 1970-01-01 UTC.
  ///   - random: the source of the 74 random bits.
  package init(milliseconds: UInt64, random: inout some RandomNumberGenerator) {
    high = (milliseconds & 0xFFFF_FFFF_FFFF) << 16 | 0x7000 | (random.next() & 0x0FFF)
    low = 0x8000_0000_0000_0000 | (random.next() & 0x3FFF_FFFF_FFFF_FFFF)
  }

  /// The time of creation in seconds since 1970-01-01 UTC, by the clock of the process that created the id.
  package var seconds: Double { Double(high >> 16) / 1000 }

  /// Reads the text form of RFC 9562, `8-4-4-4-12` hexadecimal digits; nil for any other text.
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
  /// The text form of RFC 9562 in lower case.
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

extension PublicID {
  // The time of the last id, in steps of 1/4096 of a millisecond.
  private static let last = Atomic<UInt64>(0)

  /// Creates an id for a record; the ids that one process creates are strictly increasing.
  ///
  /// Twelve of the random bits hold a fraction of the millisecond (RFC 9562, section 6.2, method 3). If the clock has
  /// not advanced, the id gets the last time plus one step.
  package static func now() -> PublicID {
    let steps = UInt64(max(0, Date().timeIntervalSince1970 * 1000 * 4096))
    var before = last.load(ordering: .relaxed)
    while true {
      let next = max(steps, before + 1)
      let (isDone, found) = last.compareExchange(expected: before, desired: next, ordering: .relaxed)
      if isDone { return PublicID(steps: next, low: .random(in: .min ... .max)) }
      before = found
    }
  }

  private init(steps: UInt64, low: UInt64) {
    self.init(
      high: (steps >> 12 & 0xFFFF_FFFF_FFFF) << 16 | 0x7000 | (steps & 0x0FFF),
      low: 0x8000_0000_0000_0000 | (low & 0x3FFF_FFFF_FFFF_FFFF))
  }
}
