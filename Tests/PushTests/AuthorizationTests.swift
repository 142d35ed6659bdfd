import Push
import Testing
import TokenTesting

@Suite("Authorization by providers")
struct AuthorizationTests {
  private struct Claims: Decodable, Equatable {
    var iss: String?
    var iat: Int?
    var aud: String?
    var exp: Int?
    var sub: String?
    var scope: String?
  }

  private let origin = Origin(host: "push.example.net")

  /// The key in JSON of a point in base64url.
  private func key(ofPoint text: String) -> String {
    let point = Base64URL.bytes(of: text) ?? []
    let (x, y) = (Base64URL.text(of: point.dropFirst().prefix(32)), Base64URL.text(of: point.suffix(32)))
    return #"{"kty":"EC","crv":"P-256","x":"\#(x)","y":"\#(y)"}"#
  }

  @Test("Apple's provider token is signed by ES256, names key and team, and lives between 20 and 60 minutes")
  func apns() async throws {
    let credentials = try await CredentialsFixture()
    guard case .ready(let authorization) = try credentials.apns().authorization(for: origin, now: 1_000_000) else {
      throw PushError(.unavailable, "no token")
    }
    #expect(authorization.value.hasPrefix("bearer "))
    #expect(authorization.start == 999_000 && authorization.renewal == 999_000 + 30 * 60)
    let token = try VerifiedToken(String(authorization.value.dropFirst(7)), key: credentials.ec.json)
    #expect(token.header == ["alg": "ES256", "kid": "ABC123DEFG", "typ": "JWT"])
    #expect(try token.claims(Claims.self) == Claims(iss: "DEF123GHIJ", iat: 999_000))
    // Whenever another worker starts, its token is of the same time.
    for now in [999_000, 1_000_799] {
      guard case .ready(let other) = try credentials.apns().authorization(for: origin, now: now) else { continue }
      #expect((other.start, other.renewal) == (authorization.start, authorization.renewal))
    }
  }

  @Test("Google's access token is fetched with an assertion by RS256, and renewed before it expires")
  func fcm() async throws {
    let credentials = try await CredentialsFixture()
    let fcm = try credentials.fcm()
    guard case .fetch(let request) = fcm.authorization(for: origin, now: 1_000_000) else {
      throw PushError(.unavailable, "no request")
    }
    #expect("\(request.origin)\(request.path)" == "https://oauth2.googleapis.com/token")
    #expect(request["content-type"] == "application/x-www-form-urlencoded")
    let form = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion="
    #expect(request.text.hasPrefix(form))
    let token = try VerifiedToken(String(request.text.dropFirst(form.count)), key: credentials.rsa.json)
    #expect(token.header == ["alg": "RS256", "kid": credentials.rsa.id, "typ": "JWT"])
    let expected = Claims(
      iss: "push@take5-test.iam.gserviceaccount.com", iat: 1_000_000, aud: "https://oauth2.googleapis.com/token",
      exp: 1_003_600, scope: "https://www.googleapis.com/auth/firebase.messaging")
    #expect(try token.claims(Claims.self) == expected)

    func authorization(_ status: Int, _ body: String) -> Authorization? {
      fcm.authorization(from: PushResponse(status: status, body: Array(body.utf8)), now: 1_000_000)
    }
    let answer = #"{"access_token":"ya29.a","expires_in":3599,"token_type":"Bearer"}"#
    #expect(authorization(200, answer)?.value == "Bearer ya29.a")
    #expect(authorization(200, answer)?.renewal == 1_003_299)
    let expired = #"{"access_token":"ya29.a","expires_in":\#(Int.min)}"#
    #expect(authorization(200, expired)?.renewal == 1_000_060)
    #expect(authorization(400, answer) == nil)
    #expect(authorization(200, #"{"access_token":"a\r\nb","expires_in":1}"#) == nil)
  }

  @Test("VAPID's token follows RFC 8292: its audience is the origin, and it lives less than a day")
  func webPush() async throws {
    // RFC 8292, section 2.4, whose private key is not known: what verifies it verifies ours.
    let example = try VerifiedToken(
      "eyJ0eXAiOiJKV1QiLCJhbGciOiJFUzI1NiJ9.eyJhdWQiOiJodHRwczovL3B1c2guZXhhbXBsZS5uZXQiLCJleHAiOjE0NTM1MjM3NjgsInN1YiI6"
        + "Im1haWx0bzpwdXNoQGV4YW1wbGUuY29tIn0.i3CYb7t4xfxCDquptFOepC9GAu_HLGkMlMuCGSK2rpiUfnK9ojFwDXb1JrErtmysazNjjvW2L9OkSS"
        + "HzvoD1oA",
      key: key(ofPoint: "BA1Hxzyi1RUM1b5wjxsn7nGxAszw2u61m164i3MrAIxHF6YK5h4SDYic-dRuU_RCPCfA5aq9ojSwk5Y2EmClBPs"))
    let webPush = try await CredentialsFixture().webPush()
    let now = 1_453_523_768 - 12 * 3600
    guard case .ready(let authorization) = webPush.authorization(for: origin, now: now) else {
      throw PushError(.unavailable, "no token")
    }
    let parts = authorization.value.dropFirst("vapid ".count).split(separator: ",")
    #expect(authorization.value.hasPrefix("vapid t=") && parts.count == 2)
    // The public key of RFC 8291, appendix A.
    #expect(parts[1] == "k=BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4")
    let token = try VerifiedToken(String(parts[0].dropFirst(2)), key: key(ofPoint: webPush.publicKey))
    #expect(token.header == example.header)
    #expect(try token.claims(Claims.self) == example.claims(Claims.self))
    #expect(now + 1..<now + 12 * 3600 ~= authorization.renewal)
  }
}
