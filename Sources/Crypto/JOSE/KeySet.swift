import FoundationEssentials

/// The public keys with which an identity provider signs its tokens (RFC 7517, section 5).
package struct KeySet: Sendable, Hashable {
  /// The maximum length of a key set in bytes.
  package static let maxBytes = 256 << 10
  private static let maxKeys = 100

  /// A key that verifies tokens.
  package struct Key: Sendable, Hashable {
    /// The name in the headers of tokens.
    let id: String
    let algorithms: Set<Algorithm>
    /// The required members of the key, in the order in which they are hashed (RFC 7638, section 3.2). Others, such as the
    /// private parts, are left out.
    let json: [UInt8]
    /// The thumbprint (RFC 7638), by which other parts of the service name the key.
    package let thumbprint: SHA256Digest
  }

  /// The signature algorithms that tokens may have (RFC 7518, section 3.1). Neither `none` nor one with a shared secret is
  /// among them: the public key would be that secret.
  enum Algorithm: String, Sendable, CaseIterable {
    case rs256 = "RS256"
    case ps256 = "PS256"
    case es256 = "ES256"
  }

  private let keys: [Key]

  /// Reads a key set. Keys that this service has no use for are left out: those without an id, for encryption, or of
  /// another algorithm.
  ///
  /// - Throws: `KeySetError` if no key is left.
  package init(json: [UInt8]) throws(KeySetError) {
    guard json.count <= Self.maxBytes else {
      throw KeySetError(description: "it is longer than \(Self.maxBytes) bytes")
    }
    guard let set = try? JSONDecoder().decode(JSONWebKeySet.self, from: Data(json)) else {
      throw KeySetError(description: "it is not a JSON Web Key Set")
    }
    keys = set.keys.prefix(Self.maxKeys).compactMap { $0.key }
    guard !keys.isEmpty else {
      throw KeySetError(
        description: "it has no key with a kid for \(Algorithm.allCases.map(\.rawValue).joined(separator: ", "))")
    }
  }

  /// Whether some key has this id.
  func hasKey(_ id: String) -> Bool { keys.contains { $0.id == id } }

  /// Returns the key with an id for an algorithm.
  func key(_ id: String, for algorithm: Algorithm) -> Key? {
    keys.first { $0.id == id && $0.algorithms.contains(algorithm) }
  }

  /// Returns the key with a thumbprint.
  package func key(thumbprint: SHA256Digest) -> Key? { keys.first { $0.thumbprint == thumbprint } }
}

/// The reason why a key set cannot be used.
package struct KeySetError: Error, Sendable, Hashable, CustomStringConvertible {
  package let description: String
}

/// A key set as it is sent.
private struct JSONWebKeySet: Decodable {
  /// A key; members that no public key of ours has are ignored.
  struct Member: Decodable {
    var kid: String?
    var kty: String?
    var use: String?
    var alg: String?
    var crv: String?
    var n: String?
    var e: String?
    var x: String?
    var y: String?

    /// One key of another form does not make the others useless.
    init(from decoder: any Decoder) throws {
      let container = try? decoder.container(keyedBy: CodingKeys.self)
      func text(_ key: CodingKeys) -> String? { (try? container?.decodeIfPresent(String.self, forKey: key)) ?? nil }
      (kid, kty, use, alg) = (text(.kid), text(.kty), text(.use), text(.alg))
      (crv, n, e, x, y) = (text(.crv), text(.n), text(.e), text(.x), text(.y))
    }

    enum CodingKeys: CodingKey { case kid, kty, use, alg, crv, n, e, x, y }
  }

  let keys: [Member]
}

extension JSONWebKeySet.Member {
  /// A modulus of fewer bits is too short (RFC 7518, section 3.3); a much longer one would cost seconds for each token.
  private static let modulusBits = 2048...8192

  /// The key; nil if it cannot verify tokens.
  var key: KeySet.Key? {
    guard let kid, 1...200 ~= kid.unicodeScalars.count, use ?? "sig" == "sig" else { return nil }
    let members: [String: String]
    var algorithms: Set<KeySet.Algorithm>
    switch (kty, n, e, crv, x, y) {
    case ("RSA", let n?, let e?, _, _, _): (members, algorithms) = (["kty": "RSA", "n": n, "e": e], [.rs256, .ps256])
    case ("EC", _, _, "P-256", let x?, let y?):
      (members, algorithms) = (["kty": "EC", "crv": "P-256", "x": x, "y": y], [.es256])
    default: return nil
    }
    // libcjose ends the process if padding is where none may be.
    guard members.values.allSatisfy({ $0[...].isBase64URL }) else { return nil }
    if let alg { algorithms = algorithms.filter { $0.rawValue == alg } }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard !algorithms.isEmpty, let json = try? encoder.encode(members) else { return nil }
    let bytes = [UInt8](json)
    guard let key = PublicKey(json: bytes), kty == "EC" || Self.modulusBits ~= key.bits else { return nil }
    return KeySet.Key(id: kid, algorithms: algorithms, json: bytes, thumbprint: SHA256.digest(of: bytes))
  }
}

extension Substring {
  /// Whether the text has the alphabet of base64url alone, without padding (RFC 4648, section 5).
  var isBase64URL: Bool {
    utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
        true
      default: false
      }
    }
  }
}
