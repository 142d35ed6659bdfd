internal import CCrypto
package import Platform

/// An incremental SHA-256 computation (OpenSSL, EVP_DigestInit(3)).
package struct SHA256: ~Copyable, @unchecked Sendable {
  // Unchecked: the context has one owner, which moves between threads with it.
  private let context: OpaquePointer

  package init() {
    Library.load()
    // These fail only without memory or with a broken OpenSSL: no caller could continue.
    guard let context = EVP_MD_CTX_new(), EVP_DigestInit_ex(context, EVP_sha256(), nil) == 1 else {
      fatalError("OpenSSL has no SHA-256")
    }
    self.context = context
  }

  deinit { EVP_MD_CTX_free(context) }

  /// Adds bytes.
  package mutating func update(_ bytes: UnsafeRawBufferPointer) {
    guard EVP_DigestUpdate(context, bytes.baseAddress, bytes.count) == 1 else { fatalError("EVP_DigestUpdate") }
  }

  /// Adds bytes.
  package mutating func update(_ bytes: [UInt8]) { bytes.withUnsafeBytes { update($0) } }

  /// The digest of all bytes added.
  package consuming func finalize() -> SHA256Digest {
    var bytes = [UInt8](repeating: 0, count: SHA256Digest.count)
    guard EVP_DigestFinal_ex(context, &bytes, nil) == 1, let digest = SHA256Digest(bytes: bytes) else {
      fatalError("EVP_DigestFinal_ex")
    }
    return digest
  }

  /// The digest of bytes in memory.
  package static func digest(of bytes: [UInt8]) -> SHA256Digest {
    var hasher = SHA256()
    hasher.update(bytes)
    return hasher.finalize()
  }

  /// The digest of an entire file; the position of the descriptor does not matter.
  package static func digest(of file: borrowing Descriptor) throws(SystemError) -> SHA256Digest {
    var hasher = SHA256()
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 64)
    defer { buffer.deallocate() }
    var offset: Int64 = 0
    while true {
      let count = try file.read(into: buffer, at: offset)
      if count == 0 { return hasher.finalize() }
      hasher.update(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
      offset += Int64(count)
    }
  }
}

/// Message authentication codes by HMAC-SHA-256 (RFC 2104; OpenSSL, HMAC(3)).
package enum HMAC {
  /// The code of a message with a key.
  package static func code(of message: [UInt8], key: [UInt8]) -> SHA256Digest {
    Library.load()
    var bytes = [UInt8](repeating: 0, count: SHA256Digest.count)
    var count: UInt32 = 0
    guard
      CCrypto.HMAC(EVP_sha256(), key, Int32(key.count), message, message.count, &bytes, &count) != nil,
      let digest = SHA256Digest(bytes: bytes)
    else { fatalError("OpenSSL has no HMAC-SHA-256") }
    return digest
  }

  /// Whether two codes are equal, in constant time.
  package static func areEqual(_ one: SHA256Digest, _ other: SHA256Digest) -> Bool {
    zip(one.bytes, other.bytes).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
  }
}

/// OpenSSL's libcrypto.
private enum Library {
  private static let isLoaded: Void = SharedLibraries.open("libcrypto.so.3")

  /// Loads the library, the first time that it is called.
  static func load() { isLoaded }
}
