import Testing
import TokenTesting

@testable import Crypto

/// Tokens that openssl(1) has signed.
@Suite("Tokens of an identity provider")
struct IdentityTokenTests {
  private static let rules = IdentityRules(issuer: "https://id.example", audience: "take5")
  private static let now = 1_800_000_000
  private static let valid = #"{"iss":"https://id.example","aud":"take5","sub":"ada","exp":1800000060}"#

  private static func verify(_ token: String, _ keys: [TokenIssuer.Key]) throws -> IdentityToken {
    try rules.verify(token, KeySet(json: TokenIssuer.keySet(keys)), now: now)
  }

  @Test("a token of each algorithm is verified", arguments: [TokenIssuer.Algorithm.rs256, .ps256, .es256])
  func algorithms(_ algorithm: TokenIssuer.Algorithm) async throws {
    let issuer = try TokenIssuer()
    let key = try await algorithm == .es256 ? issuer.ecKey("a") : issuer.rsaKey("a")
    let token = try await issuer.token(Self.valid, key, algorithm)
    let verified = try Self.verify(token, [key])
    #expect(verified.user == "ada" && verified.expires == 1_800_000_060)
    #expect(try KeySet(json: TokenIssuer.keySet([key])).key(thumbprint: verified.key) != nil)
    // Any change of the signed part breaks the signature.
    let parts = token.split(separator: ".")
    let other = TokenIssuer.base64URL(Array(Self.valid.replacing("ada", with: "bob").utf8))
    #expect(throws: IdentityTokenError.invalidSignature) {
      try Self.verify("\(parts[0]).\(other).\(parts[2])", [key])
    }
    let stranger = try await algorithm == .es256 ? issuer.ecKey("b") : issuer.rsaKey("b")
    #expect(throws: IdentityTokenError.unknownKey) { try Self.verify(token, [stranger]) }
  }

  @Test("claims that are missing, of another type or wrong are refused")
  func claims() async throws {
    let issuer = try TokenIssuer()
    let key = try await issuer.ecKey("a")
    let cases: [(String, IdentityTokenError?)] = [
      (#"{"iss":"https://id.example","aud":["other","take5"],"sub":"ada","exp":1800000000.5}"#, nil),
      (
        #"{"iss":"https://id.example","aud":"take5","sub":"ada","exp":1800000060,"nbf":1800000060,"iat":1800000060}"#,
        nil
      ),
      (#"{"iss":"https://id.example/","aud":"take5","sub":"ada","exp":1800000060}"#, .otherIssuer),
      (#"{"iss":"https://id.example","aud":"other","sub":"ada","exp":1800000060}"#, .otherAudience),
      (#"{"iss":"https://id.example","aud":[],"sub":"ada","exp":1800000060}"#, .otherAudience),
      (#"{"iss":"https://id.example","aud":"take5","sub":"ada","exp":1800000000}"#, .expired),
      (#"{"iss":"https://id.example","aud":"take5","sub":"ada","exp":1800000060,"nbf":1800000061}"#, .notYetValid),
      (#"{"iss":"https://id.example","aud":"take5","sub":"ada","exp":1800000060,"iat":1800000061}"#, .notYetValid),
      (#"{"iss":"https://id.example","aud":"take5","exp":1800000060}"#, .invalidSubject),
      (#"{"iss":"https://id.example","aud":"take5","sub":"","exp":1800000060}"#, .invalidSubject),
      (#"{"iss":"https://id.example","aud":"take5","sub":"a\u0000","exp":1800000060}"#, .invalidSubject),
      (
        #"{"iss":"https://id.example","aud":"take5","sub":"\#(String(repeating: "a", count: 201))","exp":1800000060}"#,
        .invalidSubject
      ),
      (#"{"iss":"https://id.example","aud":"take5","sub":"ada"}"#, .invalidClaims),
      (#"{"iss":"https://id.example","aud":"take5","sub":"ada","exp":"1800000060"}"#, .invalidClaims),
      (#"{"aud":"take5","sub":"ada","exp":1800000060}"#, .invalidClaims),
      (#"{"iss":"https://id.example","sub":"ada","exp":1800000060}"#, .invalidClaims),
      (#"{"iss":"https://id.example","aud":"take5","sub":7,"exp":1800000060}"#, .invalidClaims),
      ("[]", .invalidClaims), ("", .invalidClaims),
    ]
    for (claims, expected) in cases {
      let token = try await issuer.token(claims, key, .es256)
      var found: IdentityTokenError?
      do { _ = try Self.verify(token, [key]) } catch { found = error as? IdentityTokenError }
      #expect(found == expected, "\(claims)")
    }
  }

  @Test("headers that would weaken the signature are refused")
  func headers() async throws {
    let issuer = try TokenIssuer()
    let (rsa, ec) = (try await issuer.rsaKey("a"), try await issuer.ecKey("b"))
    func refused(_ token: String) -> IdentityTokenError? {
      do { _ = try Self.verify(token, [rsa, ec]) } catch { return error as? IdentityTokenError }
      return nil
    }
    #expect(refused(try await issuer.token(Self.valid, rsa, .none)) == .otherAlgorithm)
    // The signature is that of HMAC with the bytes of the public key, which everyone knows.
    #expect(refused(try await issuer.token(Self.valid, rsa, .hs256)) == .otherAlgorithm)
    for algorithm in ["HS256", "none", "None", "RS384", "EdDSA", ""] {
      let header = #"{"alg":"\#(algorithm)","kid":"a"}"#
      #expect(refused(try await issuer.token(Self.valid, rsa, header: header)) != nil, "\(algorithm)")
    }
    // The algorithm of another type of key.
    #expect(refused(try await issuer.token(Self.valid, rsa, header: #"{"alg":"ES256","kid":"a"}"#)) == .otherAlgorithm)
    #expect(refused(try await issuer.token(Self.valid, rsa, header: #"{"alg":"RS256","kid":"b"}"#)) == .otherAlgorithm)
    #expect(
      refused(try await issuer.token(Self.valid, rsa, header: #"{"alg":"PS256","kid":"a"}"#)) == .invalidSignature)
    #expect(refused(try await issuer.token(Self.valid, rsa, header: #"{"alg":"RS256"}"#)) == .unknownKey)
    #expect(refused(try await issuer.token(Self.valid, rsa, header: #"{"alg":"RS256","kid":7}"#)) == .unknownKey)
    for header in [
      #"{"alg":"RS256","kid":"a","crit":["exp"]}"#, #"{"alg":"RS256","kid":"a","crit":"exp"}"#,
      #"{"alg":"RS256","kid":"a","crit":null}"#,
    ] {
      #expect(refused(try await issuer.token(Self.valid, rsa, header: header)) == .malformed, "\(header)")
    }
    #expect(
      refused(try await issuer.token(Self.valid, rsa, header: #"{"alg":"RS256","kid":"a","typ":"logout+jwt"}"#))
        == .otherType)
    // A key of the token's own is not used.
    let own = try await issuer.token(
      Self.valid, ec, header: #"{"alg":"ES256","kid":"c","jwk":\#(ec.json)}"#)
    #expect(refused(own) == .unknownKey)
  }

  @Test("texts that are no tokens are refused")
  func malformed() async throws {
    let issuer = try TokenIssuer()
    let key = try await issuer.ecKey("a")
    let token = try await issuer.token(Self.valid, key, .es256)
    let parts = token.split(separator: ".").map(String.init)
    #expect(IdentityToken.isLikely(token))
    for text in [
      "", "..", "...", parts[0], "\(parts[0]).\(parts[1])", "\(token).", "\(token)=", " \(token)", "\(token)\u{0}",
      "\(parts[0]).\(parts[1]).", "\(parts[0])..\(parts[2])", "\(token)é",
      String(repeating: "a", count: IdentityToken.maxBytes + 1),
    ] {
      #expect(throws: IdentityTokenError.self, "\(text)") { try Self.verify(text, [key]) }
    }
    // A signature of another length.
    #expect(throws: IdentityTokenError.self) { try Self.verify("\(parts[0]).\(parts[1]).AAAA", [key]) }
  }

  @Test("a key set has the keys that can verify tokens, and none that is weak, secret or for encryption")
  func keySets() async throws {
    let issuer = try TokenIssuer()
    let (rsa, weak, ec) = (
      try await issuer.rsaKey("a"), try await issuer.rsaKey("w", bits: 1024), try await issuer.ecKey("e")
    )
    func set(_ keys: String...) throws -> KeySet {
      try KeySet(json: Array(#"{"keys":[\#(keys.joined(separator: ","))]}"#.utf8))
    }
    #expect(try set(rsa.json, #"{"kty":"oct","kid":"s","k":"AAAA"}"#, #"{"kty":"OKP"}"#, "7", ec.json).hasKey("e"))
    #expect(try !set(rsa.json, #"{"kty":"oct","kid":"s","k":"AAAA"}"#).hasKey("s"))
    for unusable in [
      weak.json, rsa.json.replacing(#""kid":"a","#, with: ""), rsa.json.replacing("sig", with: "enc"),
      rsa.json.replacing(#""use""#, with: #""alg":"RS512","use""#), ec.json.replacing("P-256", with: "P-384"),
      #"{"kty":"EC","crv":"P-256","kid":"e","x":"AAAA","y":"AAAA"}"#, #"{"kty":"RSA","kid":"a","n":"","e":""}"#,
      // Padding within a member, which ends the process in libcjose.
      rsa.json.replacing("AQAB", with: "AQ=B"), rsa.json.replacing("AQAB", with: "A==="),
      rsa.json.replacing("AQAB", with: "AQAB===="), ec.json.replacing(#""x":""#, with: #""x":"=="#),
    ] {
      #expect(throws: KeySetError.self, "\(unusable)") { try set(unusable) }
    }
    for json in ["", "[]", "{}", #"{"keys":{}}"#, #"{"keys":[]}"#, String(repeating: " ", count: KeySet.maxBytes + 1)] {
      #expect(throws: KeySetError.self) { try KeySet(json: Array(json.utf8)) }
    }
    // A key that is for one algorithm verifies no other one.
    let only = try set(rsa.json.replacing(#""use""#, with: #""alg":"PS256","use""#))
    let token = try await issuer.token(Self.valid, rsa, .rs256)
    #expect(throws: IdentityTokenError.otherAlgorithm) { try Self.rules.verify(token, only, now: Self.now) }
  }
}
