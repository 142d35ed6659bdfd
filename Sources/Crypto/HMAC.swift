internal import CCrypto

/// Message authentication codes by HMAC-SHA-256 (RFC 2104; OpenSSL, HMAC(3)).
package enum HMAC {
  /// The code of a message under a key.
  package static func code(of message: [UInt8], key: [UInt8]) -> SHA256Digest {
    var bytes = [UInt8](repeating: 0, count: SHA256Digest.count)
    var count: UInt32 = 0
    guard
      CCrypto.HMAC(EVP_sha256(), key, Int32(key.count), message, message.count, &bytes, &count) != nil,
      let digest = SHA256Digest(bytes: bytes)
    else { fatalError("OpenSSL has no HMAC-SHA-256") }
    return digest
  }

  /// Whether two codes are the same, in a time that does not tell where they differ.
  package static func areEqual(_ one: SHA256Digest, _ other: SHA256Digest) -> Bool {
    zip(one.bytes, other.bytes).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
  }
}
