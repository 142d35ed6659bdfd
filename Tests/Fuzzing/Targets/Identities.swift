import FoundationEssentials
import HTTPServer
import Model

@testable import Crypto
@testable import Kit
@testable import Rooms

extension FuzzTarget {
  static let identities = [token, keys, account]

  private static let now = 1_800_000_000
  private static let rules = IdentityRules(issuer: "https://id.example", audience: "take5")

  /// The public keys of the seeds.
  private static let keySet: KeySet = {
    let json = """
      {"keys":[{"kty":"RSA","use":"sig","kid":"r","e":"AQAB","n":"\
      nkWRvOr1zj9C5umEkUmzcA23qPO6QvVidsIJYt7aCASlXHXhyFZU_N_V4cXCkqoX6xE89aDXvw5WfFzJ4pCNquac-S\
      o_18kwqSmuMOhVcZOqRPOT46o64NT9QtsXW7BtWbU4ml4faeKTQ0LjgywTCfMXWcS27z9KXV-o-\
      1BRfAsHME2rOP6xB8L6K1GGtdDN5iovCYJhoRHq79_Q17sMt2xkC9ehc_YWGlXnT-PgVCSeBTN5rORFltmmQG0Bhcu\
      EOnz6FRmlQUMEe8rXNilAn4laCkMqyz-O9d4yDKiGqrRRZAPF31pMzMlhpxK8fWzIP1YJG7N2wfppBZUpV7AmKQ\
      "},{"kty":"EC","use":"sig","kid":"e","crv":"P-256",\
      "x":"qo4Ryu83c28ZmyqNxHShShUF1l5jLfKJrWjBiGpqni4",\
      "y":"bAp1lwadKybxG2GkfWO33lxAWc9QSUNNQknAEuqYOuY"}]}
      """
    do { return try KeySet(json: Array(json.utf8)) } catch { fatalError("\(error)") }
  }()

  private static func check(_ token: IdentityToken) {
    expect(token.expires >= now, "an expired token")
    expect(1...200 ~= token.user.unicodeScalars.count, "a user without an id that can be stored")
  }

  /// A token, and behind the first NUL claims as if they were signed: chance signs none.
  private static let token = FuzzTarget("token") { bytes in
    let (text, claims) = (bytes.halves.first.text, bytes.halves.second)
    _ = IdentityToken.isLikely(text)
    _ = try? IdentityToken.issuer(of: text)
    if let token = try? rules.verify(text, keySet, now: now) {
      check(token)
      expect(keySet.key(thumbprint: token.key) != nil, "a token of another key")
    }
    check(try rules.check(payload: claims, now: Double(now), key: SHA256.digest(of: [])))
  }

  /// A key set, whose keys verify a token that names them.
  private static let keys = FuzzTarget("keys") { bytes in
    let keys = try KeySet(json: bytes)
    for id in ["r", "e"] where keys.hasKey(id) {
      for algorithm in KeySet.Algorithm.allCases {
        guard let key = keys.key(id, for: algorithm) else { continue }
        expect(keys.key(thumbprint: key.thumbprint) != nil, "a key that its thumbprint does not find")
        let header = Array(#"{"alg":"\#(algorithm.rawValue)","kid":"\#(id)"}"#.utf8)
        let signed = "\(header.base64URL).\(Array("{}".utf8).base64URL)"
        for length in [0, 64, 256] {
          let signature = [UInt8](repeating: 1, count: length).base64URL
          expect((try? rules.verify("\(signed).\(signature)", keys, now: now)) == nil, "a signature of nothing")
        }
      }
    }
  }

  /// The body of a request of an account, a profile or a token.
  private static let account = FuzzTarget("account") { bytes in
    let fields = try JSONBody.fields(of: bytes, part: "body")
    if let draft = try? RegistrationDraft(fields: fields) {
      expect(Profile.isUserName(draft.userName), "a user name of other characters")
      expect(1...UserToken.maxLifetime ~= draft.session.lifetime, "a lifetime that no token may have")
    }
    _ = try? SignInDraft(fields: fields)
    for needsFormer in [false, true] {
      guard let draft = try? PasswordDraft(fields: fields, needsFormer: needsFormer) else { continue }
      expect((draft.former != nil) == needsFormer, "a change without the former password")
    }
    if let draft = try? TokenDraft(fields: fields), let grant = draft.grant {
      expect(!grant.kinds.isEmpty && grant.bytes > 0, "a grant of nothing")
    }
    _ = try? ProfileChange(fields: fields, replacesAll: true)
  }
}

extension [UInt8] {
  /// The bytes in base64url without padding (RFC 4648, section 5).
  fileprivate var base64URL: String {
    Data(self).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
  }
}
