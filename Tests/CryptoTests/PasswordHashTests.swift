import Testing

@testable import Crypto

@Suite("Hashes of passwords")
struct PasswordHashTests {
  // By OpenSSL 3.5, which has an implementation of its own: Argon2id with the salt 0123456789abcdef.
  private static let ofCommand =
    "$argon2id$v=19$m=19456,t=2,p=1$MDEyMzQ1Njc4OWFiY2RlZg$rk2Mi3E4dgRMg0fHaYaptWVZRKqs//6b6k3/nntqGJk"

  @Test("a hash of another program is compared, and so is one of a password of any characters")
  func compared() {
    let stored = PasswordHash(text: Self.ofCommand)
    #expect(stored.isOf("correct horse"))
    for other in ["", "correct hors", "correct horse ", "Correct horse", "correct horse\0"] {
      #expect(!stored.isOf(other))
    }
    for password in ["", "a", "pässwörd \u{1F40E}", "nul\0l", String(repeating: "x", count: 200)] {
      let hash = PasswordHash(of: password)
      #expect(hash.isOf(password) && !hash.isOf(password + "x"))
      #expect(hash.text.hasPrefix("$argon2id$v=19$m=19456,t=2,p=1$"))
    }
    #expect(!PasswordHash(of: "nul\0l").isOf("nul\0m"))
  }

  @Test("each hash has a salt of its own, and a text that is no hash matches no password")
  func salts() {
    #expect(PasswordHash(of: "a").text != PasswordHash(of: "a").text)
    for text in ["", "$argon2id$", "$argon2i$v=19$m=16,t=1,p=1$MDEyMzQ1Njc4OWFiY2RlZg$AAAA"] {
      #expect(!PasswordHash(text: text).isOf(""))
    }
  }
}
