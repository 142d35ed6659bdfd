internal import CArgon2
internal import Platform
@_spi(_Unicode) import Swift

/// The hash of a password by Argon2id (RFC 9106; libargon2), with its parameters and a salt of its own.
///
/// OWASP recommends the parameters (Password Storage Cheat Sheet): 19 MiB, two passes, one lane. A hash takes
/// some 30 ms.
package struct PasswordHash: Sendable, Hashable {
  private static let memoryKiB: UInt32 = 19 << 10
  private static let passes: UInt32 = 2
  private static let lanes: UInt32 = 1
  private static let saltBytes = 16
  private static let hashBytes = 32

  /// The text that is stored: the algorithm, its parameters, the salt and the hash.
  package let text: String

  /// A stored hash.
  package init(text: String) { self.text = text }

  /// The form of a password that is hashed, so that it does not depend on the keyboard: the profile OpaqueString (RFC
  /// 8265, section 4.2.2). Each space is U+0020, and characters are composed (NFC).
  package static func prepared(_ password: String) -> String {
    var scalars = String.UnicodeScalarView()
    for scalar in password.unicodeScalars {
      scalars.append(scalar.properties.generalCategory == .spaceSeparator ? " " : scalar)
    }
    return String(String.UnicodeScalarView(String(scalars)._nfc))
  }

  /// Hashes a password in its prepared form; blocks.
  package init(of password: String) {
    Library.load()
    var random = SystemRandomNumberGenerator()
    let salt = (0..<Self.saltBytes).map { _ in UInt8.random(in: .min ... .max, using: &random) }
    let length = argon2_encodedlen(
      Self.passes, Self.memoryKiB, Self.lanes, UInt32(Self.saltBytes), UInt32(Self.hashBytes), Argon2_id)
    var text = [CChar](repeating: 0, count: length)
    let bytes = Array(Self.prepared(password).utf8)
    let status = argon2id_hash_encoded(
      Self.passes, Self.memoryKiB, Self.lanes, bytes, bytes.count, salt, salt.count, Self.hashBytes, &text, length)
    // It fails only without memory.
    guard status == ARGON2_OK.rawValue else { fatalError("argon2id_hash_encoded: \(status)") }
    self.text = String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  /// Whether a password is the hashed one, compared in constant time; blocks.
  ///
  /// Older hashes are of the bytes as they were typed: these are compared too if they are others.
  package func isOf(_ password: String) -> Bool {
    let (typed, prepared) = (Array(password.utf8), Array(Self.prepared(password).utf8))
    return isOf(prepared) || typed != prepared && isOf(typed)
  }

  private func isOf(_ bytes: [UInt8]) -> Bool {
    Library.load()
    return argon2id_verify(text, bytes, bytes.count) == ARGON2_OK.rawValue
  }
}

/// libargon2.
private enum Library {
  private static let isLoaded: Void = SharedLibraries.open("libargon2.so.1")

  /// Loads the library, the first time that it is called.
  static func load() { isLoaded }
}
