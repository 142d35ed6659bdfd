internal import CPush
internal import Platform

/// A private key of OpenSSL (EVP_PKEY(3)): EC on P-256, or RSA.
package final class PrivateKey: @unchecked Sendable {
  // Unchecked: nothing changes the key, and OpenSSL counts its references atomically.
  private let handle: OpaquePointer

  /// The order of P-256 (FIPS 186-4, D.1.2.3), which OpenSSL does not compare a scalar with.
  private static let order: [UInt8] = [
    0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xBC, 0xE6, 0xFA, 0xAD, 0xA7,
    0x17,
    0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63, 0x25, 0x51,
  ]

  /// Reads a key in PEM, as Apple and Google issue it; nil if it is none, or has a password.
  package init?(pem: [UInt8]) {
    Library.load()
    let handle = pem.withUnsafeBytes { pem -> OpaquePointer? in
      guard let input = BIO_new_mem_buf(pem.baseAddress, Int32(clamping: pem.count)) else { return nil }
      defer { BIO_free(input) }
      // An empty password in place of a question on the terminal (pem_password_cb(3)).
      return "".withCString { PEM_read_bio_PrivateKey(input, nil, nil, UnsafeMutableRawPointer(mutating: $0)) }
    }
    guard let handle else { return nil }
    self.handle = handle
  }

  /// Makes a key on P-256 of its private scalar, 32 bytes; nil if it is out of range.
  package init?(scalar: [UInt8]) {
    Library.load()
    guard scalar.count == 32, scalar.lexicographicallyPrecedes(Self.order), scalar.contains(where: { $0 != 0 }) else {
      return nil
    }
    // ECPrivateKey without the public key (RFC 5915), which OpenSSL computes.
    let der = [0x30, 0x31, 2, 1, 1, 4, 32] + scalar + [0xA0, 10, 6, 8, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 3, 1, 7]
    let handle = der.withUnsafeBufferPointer { bytes in
      var start = bytes.baseAddress
      return d2i_PrivateKey(EVP_PKEY_EC, nil, &start, bytes.count)
    }
    guard let handle else { return nil }
    self.handle = handle
  }

  /// Generates a key on P-256.
  package static func generated() -> PrivateKey {
    var random = SystemRandomNumberGenerator()
    while true {
      // Out of range once in 2^32.
      if let key = PrivateKey(scalar: (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &random) }) {
        return key
      }
    }
  }

  deinit { EVP_PKEY_free(handle) }

  /// Whether it is a key on P-256.
  package var isP256: Bool { publicPoint != nil }

  /// Whether it is an RSA key of at least 2,048 bits.
  package var isRSA: Bool { EVP_PKEY_get_base_id(handle) == EVP_PKEY_RSA && EVP_PKEY_get_bits(handle) >= 2048 }

  /// The public key as an uncompressed point of 65 bytes (SEC 1, section 2.3.3); nil for keys of other kinds.
  package var publicPoint: [UInt8]? {
    var bytes: UnsafeMutablePointer<UInt8>?
    let count = i2d_PUBKEY(handle, &bytes)
    defer { CRYPTO_free(bytes, "", 0) }
    guard let bytes, count == PublicPoint.prefix.count + 65 else { return nil }
    let der = Array(UnsafeBufferPointer(start: bytes, count: Int(count)))
    return der.starts(with: PublicPoint.prefix) ? Array(der.suffix(65)) : nil
  }

  /// Signs bytes by SHA-256 with RSA (RS256), or with ECDSA, whose signature is r and s (ES256; RFC 7518, section 3).
  package func signature(of message: [UInt8]) -> [UInt8] {
    guard let context = EVP_MD_CTX_new() else { fatalError("no memory for a signature") }
    defer { EVP_MD_CTX_free(context) }
    var signature = [UInt8](repeating: 0, count: Int(EVP_PKEY_get_size(handle)))
    var count = signature.count
    guard EVP_DigestSignInit(context, nil, EVP_sha256(), nil, handle) == 1,
      EVP_DigestSign(context, &signature, &count, message, message.count) == 1
    else { fatalError("OpenSSL signs nothing with a key that it has read") }
    guard EVP_PKEY_get_base_id(handle) == EVP_PKEY_EC else { return Array(signature[..<count]) }
    return signature.withUnsafeBufferPointer { bytes in
      var start = bytes.baseAddress
      guard let parts = d2i_ECDSA_SIG(nil, &start, count) else { fatalError("OpenSSL makes no ECDSA signature") }
      defer { ECDSA_SIG_free(parts) }
      var pair = [UInt8](repeating: 0, count: 64)
      pair.withUnsafeMutableBufferPointer { pair in
        BN_bn2binpad(ECDSA_SIG_get0_r(parts), pair.baseAddress, 32)
        BN_bn2binpad(ECDSA_SIG_get0_s(parts), pair.baseAddress.map { $0 + 32 }, 32)
      }
      return pair
    }
  }

  /// The secret that this key and a public one share (ECDH).
  package func sharedSecret(with point: borrowing PublicPoint) -> [UInt8] {
    guard let context = EVP_PKEY_CTX_new(handle, nil) else { fatalError("no memory for ECDH") }
    defer { EVP_PKEY_CTX_free(context) }
    var secret = [UInt8](repeating: 0, count: 32)
    var count = secret.count
    guard EVP_PKEY_derive_init(context) == 1, EVP_PKEY_derive_set_peer(context, point.handle) == 1,
      EVP_PKEY_derive(context, &secret, &count) == 1
    else { fatalError("OpenSSL derives no secret from two keys on P-256") }
    return secret
  }
}

/// A public key on P-256.
package struct PublicPoint: ~Copyable {
  /// SubjectPublicKeyInfo up to the point (RFC 5480).
  static let prefix: [UInt8] = [
    0x30, 0x59, 0x30, 0x13, 6, 7, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 2, 1, 6, 8, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 3, 1, 7, 3,
    0x42, 0,
  ]
  fileprivate let handle: OpaquePointer

  /// Reads an uncompressed point of 65 bytes; nil if it is not on the curve.
  package init?(_ bytes: [UInt8]) {
    Library.load()
    guard bytes.count == 65, bytes[0] == 4 else { return nil }
    let handle = (Self.prefix + bytes).withUnsafeBufferPointer { der in
      var start = der.baseAddress
      return d2i_PUBKEY(nil, &start, der.count)
    }
    guard let handle else { return nil }
    self.handle = handle
  }

  deinit { EVP_PKEY_free(handle) }
}

/// OpenSSL's libcrypto.
enum Library {
  private static let isLoaded: Void = SharedLibraries.open("libcrypto.so.3")

  /// Loads the library, the first time that it is called.
  static func load() { isLoaded }
}
