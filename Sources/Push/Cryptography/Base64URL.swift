import FoundationEssentials

/// base64url without padding (RFC 4648, section 5; RFC 7515, appendix C).
package enum Base64URL {
  package static func text(of bytes: some Sequence<UInt8>) -> String {
    Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
  }

  /// Decodes a text; nil if it has another alphabet. Padding is accepted, since some browsers write it.
  package static func bytes(of text: String) -> [UInt8]? {
    let plain = text.replacing("=", with: "")
    guard !plain.utf8.contains(where: { $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "/") }) else { return nil }
    let padding = String(repeating: "=", count: (4 - plain.utf8.count % 4) % 4)
    return Data(base64Encoded: plain.replacing("-", with: "+").replacing("_", with: "/") + padding).map { [UInt8]($0) }
  }
}
