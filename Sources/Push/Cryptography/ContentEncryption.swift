internal import CPush
internal import Crypto

/// The encryption of a Web Push message: aes128gcm of one record (RFC 8188, RFC 8291).
package enum ContentEncryption {
  /// The maximum length of a body, which every push service accepts (RFC 8030, section 7.2).
  package static let maxBytes = 4096
  /// The maximum length of a message: the header of 86 bytes, the delimiter and the tag of 16 are added.
  package static let maxMessageBytes = maxBytes - 86 - 1 - 16

  /// Encrypts a message for the keys of a subscription; nil if the public key is not a point on P-256.
  ///
  /// - Parameters:
  ///   - key: for this message alone.
  ///   - salt: 16 random bytes.
  package static func body(
    _ message: [UInt8], publicKey: [UInt8], secret: [UInt8], key: PrivateKey, salt: [UInt8]
  ) -> [UInt8]? {
    guard let peer = PublicPoint(publicKey), let sender = key.publicPoint, message.count <= maxMessageBytes else {
      return nil
    }
    // HKDF with one block (RFC 5869): HMAC of the salt, then HMAC of the information and 1.
    let combined = HMAC.code(of: key.sharedSecret(with: peer), key: secret).bytes
    let material = HMAC.code(of: Array("WebPush: info\0".utf8) + publicKey + sender + [1], key: combined).bytes
    let pseudorandom = HMAC.code(of: material, key: salt).bytes
    func derived(_ name: String, _ count: Int) -> [UInt8] {
      Array(HMAC.code(of: Array("Content-Encoding: \(name)\0\u{1}".utf8), key: pseudorandom).bytes.prefix(count))
    }
    // The size of a record, 4,096, and the length of the key's name, which is the key.
    let header = salt + [0, 0, 0x10, 0, UInt8(truncatingIfNeeded: sender.count)] + sender
    return header + sealed(message + [2], key: derived("aes128gcm", 16), nonce: derived("nonce", 12))
  }

  /// AES-128-GCM, with the tag behind the text (EVP_EncryptInit(3)).
  private static func sealed(_ text: [UInt8], key: [UInt8], nonce: [UInt8]) -> [UInt8] {
    guard let context = EVP_CIPHER_CTX_new() else { fatalError("no memory for a cipher") }
    defer { EVP_CIPHER_CTX_free(context) }
    var (sealed, tag) = ([UInt8](repeating: 0, count: text.count), [UInt8](repeating: 0, count: 16))
    var count: Int32 = 0
    guard EVP_EncryptInit_ex(context, EVP_aes_128_gcm(), nil, key, nonce) == 1,
      EVP_EncryptUpdate(context, &sealed, &count, text, Int32(clamping: text.count)) == 1,
      EVP_EncryptFinal_ex(context, nil, &count) == 1,
      EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, 16, &tag) == 1
    else { fatalError("OpenSSL has no AES-128-GCM") }
    return sealed + tag
  }
}
