internal import CJOSE
import FoundationEssentials
import Platform

/// A JSON Web Signature in the compact serialization (RFC 7515, section 7.1; libcjose).
struct Signature: ~Copyable {
  private let handle: OpaquePointer
  /// The JSON of the header.
  let headerJSON: Data

  /// Parses a token, which nothing has verified yet; nil if it is malformed.
  init?(compact: String) {
    Library.load()
    guard let header = Self.decode(compact.prefix { $0 != "." }),
      let handle = compact.withCString({ cjose_jws_import($0, compact.utf8.count, nil) })
    else { return nil }
    headerJSON = header
    self.handle = handle
  }

  deinit { cjose_jws_release(handle) }

  /// Decodes base64url without padding (RFC 4648, section 5), which Foundation does not know.
  private static func decode(_ text: Substring) -> Data? {
    let padding = String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
    return Data(base64Encoded: text.replacing("-", with: "+").replacing("_", with: "/") + padding)
  }

  /// Returns a member of the header that is a string; nil if it is absent or has another type.
  borrowing func header(_ name: String) -> String? {
    guard let header = cjose_jws_get_protected(handle) else { return nil }
    return cjose_header_get(header, name, nil).map { String(cString: $0) }
  }

  /// Whether a key has made the signature, by the algorithm of the header.
  borrowing func isValid(for key: borrowing PublicKey) -> Bool { cjose_jws_verify(handle, key.handle, nil) }

  /// The signed bytes.
  var payload: [UInt8] {
    var bytes: UnsafeMutablePointer<UInt8>?
    var count = 0
    guard cjose_jws_get_plaintext(handle, &bytes, &count, nil) else { return [] }
    return Array(UnsafeBufferPointer(start: bytes, count: count))
  }
}

/// A public key (RFC 7517; libcjose).
struct PublicKey: ~Copyable {
  let handle: OpaquePointer

  /// Reads the JSON of a key; nil if it is not one that libcjose knows.
  init?(json: [UInt8]) {
    Library.load()
    let handle = json.withUnsafeBytes { bytes in
      cjose_jwk_import(bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count, nil)
    }
    guard let handle else { return nil }
    self.handle = handle
  }

  deinit { _ = cjose_jwk_release(handle) }

  /// The size in bits, for RSA of the modulus.
  var bits: Int { cjose_jwk_get_keysize(handle, nil) }
}

/// libcjose, with the JSON parser that it uses.
private enum Library {
  private static let isLoaded: Void = SharedLibraries.open("libcjose.so.0")

  /// Loads the library, the first time that it is called.
  static func load() { isLoaded }
}
