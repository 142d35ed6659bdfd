import Glibc

/// An IP address; IPv4 addresses are stored as IPv4-mapped IPv6 addresses (RFC 4291, section 2.5.5.2).
package struct IPAddress: Hashable, Sendable, CustomStringConvertible {
  package typealias Bytes = InlineArray<16, UInt8>

  private let high: UInt64
  private let low: UInt64

  private static let mapped: UInt64 = 0xFFFF_0000_0000

  /// - Parameter bytes: in network byte order.
  package init(bytes: Bytes) {
    var (high, low) = (UInt64(0), UInt64(0))
    for index in 0..<8 {
      high = high << 8 | UInt64(bytes[index])
      low = low << 8 | UInt64(bytes[index + 8])
    }
    self.init(high: high, low: low)
  }

  private init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// Reads the address of a `sockaddr`; nil for another family than IPv4 and IPv6 (ip(7), ipv6(7)).
  package init?(socketAddress bytes: UnsafeRawBufferPointer) {
    guard bytes.count >= 8 else { return nil }
    var address = Bytes(repeating: 0)
    switch (Int32(bytes.loadUnaligned(as: sa_family_t.self)), bytes.count) {
    case (AF_INET, _):
      (address[10], address[11]) = (0xFF, 0xFF)
      for index in 0..<4 { address[12 + index] = bytes[4 + index] }
    case (AF_INET6, 24...): for index in 0..<16 { address[index] = bytes[8 + index] }
    default: return nil
    }
    self.init(bytes: address)
  }

  /// Parses an address such as `192.0.2.1` or `2001:db8::1`; nil for an address with a zone.
  package init?(_ text: some StringProtocol) {
    let text = String(text)
    guard text.utf8.count < INET6_ADDRSTRLEN, !text.utf8.contains(0) else { return nil }
    var four = in_addr()
    if inet_pton(AF_INET, text, &four) == 1 {
      self.init(four)
      return
    }
    var bytes = Bytes(repeating: 0)
    guard inet_pton(AF_INET6, text, &bytes) == 1 else { return nil }
    self.init(bytes: bytes)
  }

  /// Parses the host of a URL, which may also be an IPv4 address in an old spelling: `2130706433`, `0177.0.0.1`,
  /// `0x7f.1` or `127.1` (inet_aton(3)).
  package init?(host: String) {
    if let address = IPAddress(host) {
      self = address
      return
    }
    var four = in_addr()
    // What follows a blank would be passed over.
    guard host.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }), inet_aton(host, &four) != 0 else { return nil }
    self.init(four)
  }

  private init(_ four: in_addr) { self.init(high: 0, low: Self.mapped | UInt64(UInt32(bigEndian: four.s_addr))) }

  /// Whether it is an IPv4 address.
  package var isVersion4: Bool { high == 0 && low >> 32 == Self.mapped >> 32 }

  /// Whether it is a loopback address, which other machines cannot reach (RFC 1122, section 3.2.1.3).
  package var isLoopback: Bool { isVersion4 ? low >> 24 & 0xFF == 127 : high == 0 && low == 1 }

  /// The network of one customer: an IPv4 address itself, the first 64 bits of an IPv6 address (RFC 6177).
  package var site: IPAddress { isVersion4 ? self : IPAddress(high: high, low: 0) }

  package var description: String {
    if isVersion4 { return (0..<4).reversed().map { "\(low >> (8 * $0) & 0xFF)" }.joined(separator: ".") }
    var bytes = Bytes(repeating: 0)
    for index in 0..<8 {
      bytes[index] = UInt8(truncatingIfNeeded: high >> (56 - 8 * index))
      bytes[index + 8] = UInt8(truncatingIfNeeded: low >> (56 - 8 * index))
    }
    var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    inet_ntop(AF_INET6, &bytes, &text, socklen_t(text.count))
    return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// Whether the first bits equal another address's.
  fileprivate func shares(_ bits: Int, with other: IPAddress) -> Bool {
    let highMask: UInt64 = bits >= 64 ? .max : ~(.max >> UInt64(bits))
    let lowMask: UInt64 = bits >= 128 ? .max : bits <= 64 ? 0 : ~(.max >> UInt64(bits - 64))
    return (high ^ other.high) & highMask == 0 && (low ^ other.low) & lowMask == 0
  }
}

/// An address range in CIDR notation, such as `10.0.0.0/8`; without a length a single address (RFC 4632).
package struct AddressRange: Hashable, Sendable {
  private let address: IPAddress
  private let bits: Int

  package init?(_ text: String) {
    let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    guard let first = parts.first, let address = IPAddress(first) else { return nil }
    let width = address.isVersion4 ? 32 : 128
    var length = width
    if parts.count == 2 {
      guard parts[1].utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }), let number = Int(parts[1]), number <= width else {
        return nil
      }
      length = number
    }
    self.address = address
    bits = address.isVersion4 ? 96 + length : length
  }

  package func contains(_ other: IPAddress) -> Bool { other.shares(bits, with: address) }
}
