internal import CZxcvbn
internal import Platform

/// How soon a password is guessed by who tries first what many people have, by zxcvbn (Wheeler, "zxcvbn: Low-Budget Password Strength
/// Estimation", 2016): words and names by how usual they are, rows of keys, repetitions and dates, also with a digit at the end.
package enum PasswordStrength {
  /// The guesses below which a password is among those that everybody tries, as a power of two: some eight thousand.
  private static let commonBits = 13.0
  /// The bytes that are looked at: a longer password is no usual one, and the work grows with the cube of the length.
  private static let maxBytes = 32

  /// Whether a password is among the first that anybody would try; blocks for up to some milliseconds.
  package static func isCommon(_ password: String) -> Bool {
    Library.load()
    return String(decoding: password.utf8.prefix(maxBytes), as: UTF8.self).withCString {
      ZxcvbnMatch($0, nil, nil) < commonBits
    }
  }
}

/// libzxcvbn.
private enum Library {
  private static let isLoaded: Void = SharedLibraries.open("libzxcvbn.so.0")

  /// Loads the library, the first time that it is called.
  static func load() { isLoaded }
}
