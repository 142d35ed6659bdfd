import FoundationEssentials
internal import Platform

/// What a verified token of an identity provider says (RFC 7519).
package struct IdentityToken: Sendable, Hashable {
  /// The maximum length of a token in bytes.
  package static let maxBytes = 8 << 10
  /// The tolerated difference between the clocks of the service and of the identity provider, in seconds. It does not
  /// make a token live longer.
  static let skew = 60.0

  /// The claim `sub`, after the prefix of the provider.
  package let user: String
  /// The time at which the token expires, in seconds since 1970-01-01 UTC.
  package let expires: Int
  /// The thumbprint of the key that signed it.
  package let key: SHA256Digest

  package init(user: String, expires: Int, key: SHA256Digest) {
    self.user = user
    self.expires = expires
    self.key = key
  }

  /// Whether a bearer token has the form of a JSON Web Token: three parts, the first of them a JSON object in base64url.
  package static func isLikely(_ bearer: String) -> Bool {
    bearer.hasPrefix("ey") && bearer.utf8.count { $0 == UInt8(ascii: ".") } == 2
  }

  /// Returns the claim `iss` of a token. Nothing has verified it: it only chooses the rules and keys that must.
  package static func issuer(of token: String) throws(IdentityTokenError) -> String {
    let payload = try parse(token).payload
    guard let claims = try? JSONDecoder().decode(Issuer.self, from: Data(payload)) else { throw .invalidClaims }
    return claims.iss
  }

  fileprivate static func parse(_ token: String) throws(IdentityTokenError) -> Signature {
    guard token.utf8.count <= maxBytes else { throw .tooLong }
    guard token.split(separator: ".", omittingEmptySubsequences: false).allSatisfy(\.isBase64URL),
      let signature = Signature(compact: token), ExternalText.isIn(json: Array(signature.headerJSON)),
      ExternalText.isIn(json: signature.payload)
    else { throw .malformed }
    return signature
  }
}

/// What the tokens of an identity provider must have.
package struct IdentityRules: Sendable, Hashable {
  package let issuer: String
  package let audience: String
  /// The prefix of the provider's user ids, by which ids of several providers differ.
  package let prefix: String

  package init(issuer: String, audience: String, prefix: String = "") {
    self.issuer = issuer
    self.audience = audience
    self.prefix = prefix
  }

  /// Whether the issuer of a token is this one, by its bytes: Swift's `==` also equates different bytes of the same
  /// characters.
  package func isIssuer(_ text: String) -> Bool { text.utf8.elementsEqual(issuer.utf8) }

  /// Verifies a token by its signature first, so that nothing of an unsigned one is used but the name of its key.
  ///
  /// - Parameter now: in seconds since 1970-01-01 UTC.
  package func verify(_ token: String, _ keys: KeySet, now: Int) throws(IdentityTokenError) -> IdentityToken {
    let signature = try IdentityToken.parse(token)
    guard let algorithm = signature.header("alg").flatMap({ KeySet.Algorithm(rawValue: $0) }) else {
      throw .otherAlgorithm
    }
    guard let header = try? JSONDecoder().decode(Header.self, from: signature.headerJSON), !header.isCritical else {
      throw .malformed
    }
    guard let id = signature.header("kid"), keys.hasKey(id) else { throw .unknownKey }
    guard let key = keys.key(id, for: algorithm) else { throw .otherAlgorithm }
    guard let publicKey = PublicKey(json: key.json), signature.isValid(for: publicKey) else { throw .invalidSignature }
    // Tokens for other purposes, such as a logout, have a type of their own (RFC 8725, section 3.11).
    let type = (signature.header("typ") ?? "JWT").lowercased()
    guard ["jwt", "at+jwt", "application/at+jwt"].contains(type) else { throw .otherType }
    return try check(payload: signature.payload, now: Double(now), key: key.thumbprint)
  }

  /// Checks the claims of a token that a key has signed.
  func check(payload: [UInt8], now: Double, key: SHA256Digest) throws(IdentityTokenError) -> IdentityToken {
    guard let claims = try? JSONDecoder().decode(Claims.self, from: Data(payload)) else { throw .invalidClaims }
    guard isIssuer(claims.iss) else { throw .otherIssuer }
    guard claims.aud.contains(where: { $0.utf8.elementsEqual(audience.utf8) }) else { throw .otherAudience }
    guard claims.exp > now else { throw .expired }
    guard max(claims.nbf ?? now, claims.iat ?? now) <= now + IdentityToken.skew else { throw .notYetValid }
    guard let subject = claims.sub, !subject.isEmpty else { throw .invalidSubject }
    let user = prefix + subject
    guard user.unicodeScalars.count <= 200, !user.unicodeScalars.contains("\0") else { throw .invalidSubject }
    return IdentityToken(user: user, expires: Int(min(claims.exp, 253_402_300_799)), key: key)
  }
}

/// What libcjose does not report of a header.
private struct Header: Decodable {
  /// Whether an extension must be understood (RFC 7515, section 4.1.11): none is.
  let isCritical: Bool

  init(from decoder: any Decoder) throws {
    isCritical = try decoder.container(keyedBy: CodingKeys.self).contains(.crit)
  }

  private enum CodingKeys: CodingKey { case crit }
}

/// The claim that says which provider a token is of.
private struct Issuer: Decodable {
  let iss: String
}

/// The claims that are checked (RFC 7519, section 4.1).
private struct Claims: Decodable {
  let iss: String
  /// One or several.
  let aud: [String]
  let sub: String?
  let exp: Double
  let nbf: Double?
  let iat: Double?

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    iss = try container.decode(String.self, forKey: .iss)
    aud =
      try (try? container.decode(String.self, forKey: .aud)).map { [$0] }
      ?? container.decode([String].self, forKey: .aud)
    sub = try container.decodeIfPresent(String.self, forKey: .sub)
    exp = try container.decode(Double.self, forKey: .exp)
    nbf = try container.decodeIfPresent(Double.self, forKey: .nbf)
    iat = try container.decodeIfPresent(Double.self, forKey: .iat)
  }

  private enum CodingKeys: CodingKey { case iss, aud, sub, exp, nbf, iat }
}

/// The reason why a token is refused.
package enum IdentityTokenError: Error, Sendable, Hashable, CaseIterable {
  case tooLong, malformed, otherAlgorithm, unknownKey, invalidSignature, otherType, invalidClaims, otherIssuer
  case otherAudience, expired, notYetValid, invalidSubject, foreignSubject

  /// The reason as a sentence, which repeats nothing of the token.
  package var detail: String {
    switch self {
    case .tooLong: "The JSON Web Token is longer than \(IdentityToken.maxBytes) bytes."
    case .malformed: "The JSON Web Token is malformed."
    case .otherAlgorithm:
      "The JSON Web Token is not signed with an algorithm of its key: "
        + KeySet.Algorithm.allCases.map(\.rawValue).joined(separator: ", ") + "."
    case .unknownKey: "The JSON Web Token is not signed with a key of the identity provider."
    case .invalidSignature: "The signature of the JSON Web Token is invalid."
    case .otherType: "The JSON Web Token has another purpose: its typ is neither JWT nor at+jwt."
    case .invalidClaims: "The JSON Web Token lacks iss, aud or exp, or one of its claims has another type."
    case .otherIssuer: "The JSON Web Token has another issuer."
    case .otherAudience: "The JSON Web Token is for another audience."
    case .expired: "The JSON Web Token has expired."
    case .notYetValid: "The JSON Web Token is not valid yet."
    case .invalidSubject: "The claim sub of the JSON Web Token is not a user id of 1 to 200 characters."
    case .foreignSubject: "The claim sub of the JSON Web Token is a user id of another identity provider."
    }
  }
}
