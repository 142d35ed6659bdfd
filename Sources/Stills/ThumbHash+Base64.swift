extension ThumbHash {
  /// The hash as text: base64 with padding (RFC 4648, section 4).
  package var base64: String {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
    var text = ""
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let group = bytes[start..<min(start + 3, bytes.count)]
      let bits = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
      for sextet in 0...group.count { text.append(alphabet[bits >> (18 - 6 * sextet) & 63]) }
      text.append(String(repeating: "=", count: 3 - group.count))
    }
    return text
  }
}
