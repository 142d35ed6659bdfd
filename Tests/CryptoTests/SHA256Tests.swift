import Crypto
import FoundationEssentials
import Platform
import Testing

@Suite("SHA-256")
struct SHA256Tests {
  // NIST's examples for FIPS 180-4.
  private static let known = [
    ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    (
      "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
    ),
  ]

  @Test("known digests are computed, in one piece and byte by byte", arguments: known)
  func knownDigests(text: String, expected: String) {
    let bytes = Array(text.utf8)
    #expect(SHA256.digest(of: bytes).hex == expected)
    var hasher = SHA256()
    for byte in bytes { hasher.update([byte]) }
    #expect(hasher.finalize().hex == expected)
  }

  @Test("the digest of a file does not depend on its position or its size")
  func file() throws {
    let bytes = (0..<700_001).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    let file = try Descriptor(unnamedIn: "/tmp")
    try file.write(bytes)
    #expect(try SHA256.digest(of: file) == SHA256.digest(of: bytes))
  }

  @Test("a digest is parsed from its hexadecimal form only")
  func hexadecimal() throws {
    let digest = SHA256.digest(of: [1, 2, 3])
    #expect(SHA256Digest(hex: digest.hex) == digest)
    #expect(SHA256Digest(hex: digest.hex.uppercased()) == digest)
    #expect(SHA256Digest(hex: digest.hex.dropLast()) == nil)
    #expect(SHA256Digest(hex: "g" + digest.hex.dropFirst()) == nil)
    #expect(SHA256Digest(bytes: [0]) == nil)
    let json = try JSONEncoder().encode([digest])
    #expect(String(decoding: json, as: UTF8.self) == "[\"\(digest.hex)\"]")
    #expect(try JSONDecoder().decode([SHA256Digest].self, from: json) == [digest])
    #expect(throws: DecodingError.self) { try JSONDecoder().decode([SHA256Digest].self, from: Data("[\"ab\"]".utf8)) }
  }
}
