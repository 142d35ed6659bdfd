internal import Crypto

/// Collapse ids as providers accept them: its hash replaces an id that is too long or has other characters.
enum CollapseID {
  static func text(_ id: String, maxBytes: Int) -> String {
    let isPlain = id.utf8.allSatisfy { $0.isAlphanumeric || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") }
    guard !isPlain || id.isEmpty || id.utf8.count > maxBytes else { return id }
    return String(Base64URL.text(of: SHA256.digest(of: Array(id.utf8)).bytes).prefix(maxBytes))
  }
}
