/// The four bytes that name a box (ISO/IEC 14496-12, 4.2), a brand or a handler.
package struct BoxType: Hashable, Sendable, CustomStringConvertible, ExpressibleByStringLiteral {
  private let code: UInt32

  init(code: UInt32) { self.code = code }

  /// Takes a literal of four ASCII characters.
  package init(stringLiteral text: StaticString) {
    precondition(text.utf8CodeUnitCount == 4, "a box type has four bytes")
    code = text.withUTF8Buffer { $0.reduce(0) { $0 << 8 | UInt32($1) } }
  }

  /// The four characters; a byte that is not printable ASCII shows as `.`.
  package var description: String { String(decoding: bytes.map { isPrintable($0) ? $0 : 0x2E }, as: UTF8.self) }

  /// The four bytes as ISO 8859-1, in which user data is named: `©xyz`.
  package var latin: String { String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) })) }

  /// Whether it can be read: padding has types of zeros.
  var isName: Bool { bytes.allSatisfy { $0 >= 0x20 && $0 != 0x7F } }

  /// The four bytes.
  var bytes: [UInt8] { [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: code >> $0) } }

  private func isPrintable(_ byte: UInt8) -> Bool { byte >= 0x20 && byte < 0x7F }
}
