internal import Crypto
internal import HTTPServer
package import Model

/// Signs the URLs of media for one reader and verifies them, so that players and image views need no header. The URLs of
/// what everybody may see have no signature, and are the same for all.
///
/// A URL is valid for one to two days, and no longer than a token of the identity provider. For a day, the URL of an asset is the same for
/// a reader, so that caches can reuse it (decision 49). The signature covers the API key or the user that it was issued for: it is
/// invalid once the key is revoked, or the user has no valid token.
package struct MediaURLs: Sendable {
  /// The minimum validity of a URL in seconds.
  static let minLifetime = 24 * 3600
  /// The maximum validity of a URL in seconds; a URL that expires later is invalid.
  package static let maxLifetime = minLifetime + step
  private static let step = 24 * 3600
  /// The tolerated difference between the clocks of two machines, in seconds.
  private static let skew = 60

  /// The recipient of a URL.
  package struct Reader: Sendable, Hashable {
    /// The number of an API key, `user` for user tokens, `operator`, `provider-` and the thumbprint of the key that signed a
    /// token of the identity provider, or `anybody` if no key is needed. Earlier versions issued URLs with the id of a user token.
    let name: String
    /// The hash of the key; it is part of the signature, so that another key of the same number is not accepted.
    let keyHash: String
    /// The user that a client with an API key acted as, or whose token it had.
    var user: String?
    /// The time until which the credential is valid, in seconds since 1970-01-01 UTC; nil: it is looked up.
    var expires: Int?

    static let userName = "user"

    /// The reader of the URLs that the user tokens of a user get.
    package static func tokens(of user: String) -> Reader { Reader(name: userName, keyHash: "", user: user) }

    /// The reader of the URLs that a client with an API key gets for the user that it acts as.
    package static func key(_ id: Int64, hash: String, user: String?) -> Reader {
      Reader(name: "\(id)", keyHash: hash, user: user)
    }
  }

  /// The signing keys; the first one signs.
  private let keys: [SigningKey]
  private let reader: Reader
  /// In seconds since 1970-01-01 UTC.
  private let now: Int
  /// What precedes the paths of the service for its clients; no part of signatures.
  package let prefix: String

  /// Without signatures, for what no client receives.
  package static let unsigned = MediaURLs(keys: [], reader: Reader(name: "", keyHash: ""), now: 0)

  package init(keys: [SigningKey], reader: Reader, now: Int, prefix: String = "") {
    self.prefix = prefix
    self.keys = keys
    self.reader = reader
    self.now = now
  }

  /// The result of verifying a URL.
  enum Validity: Equatable {
    case valid(secondsLeft: Int)
    case expired
    case invalid
  }

  /// The URL of an asset as long as everybody may see it.
  func publicURL(of asset: Asset) -> String { prefix + Self.path(ofAsset: asset.id) }

  package static func path(ofAsset id: PublicID) -> String { "/v1/media/\(id)" }

  /// Returns the URL of an asset with a signature.
  func url(of asset: Asset) -> String { url(ofAsset: asset.id) }

  package func url(ofAsset id: PublicID) -> String {
    let path = Self.path(ofAsset: id)
    guard let key = keys.first else { return prefix + path }
    let shift = Self.shift(of: id)
    let end = ((now + shift) / Self.step + 1) * Self.step - shift
    let expires = min(end + Self.minLifetime, reader.expires ?? .max)
    let signature = signature(path, expires, key)
    return
      "\(prefix)\(path)?expires=\(expires)&key=\(key.id)&reader=\(reader.name)\(userParameter)&signature=\(signature.hex)"
  }

  /// The time of day at which the URLs of an asset change, in seconds: those of all assets do not change at once.
  private static func shift(of id: PublicID) -> Int {
    id.description.utf8.reduce(0) { ($0 &* 31 &+ Int($1)) % step }
  }

  private var userParameter: String { reader.user.map { "&user=\(Self.percentEncoded($0))" } ?? "" }

  /// Encodes all bytes but the unreserved characters (RFC 3986, section 2.3).
  package static func percentEncoded(_ text: String) -> String {
    text.utf8.map { byte in
      let scalar = Unicode.Scalar(byte)
      if scalar.properties.isAlphabetic && byte < 0x80 || 0x30...0x39 ~= byte || "-._~".utf8.contains(byte) {
        return String(scalar)
      }
      return "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
    }.joined()
  }

  /// Verifies a signed URL of this reader.
  func verify(_ target: RequestTarget) -> Validity {
    guard let expires = target.queryValue("expires").flatMap({ Int($0) }),
      expires <= now + Self.maxLifetime + Self.skew,
      let id = target.queryValue("key").flatMap({ Int64($0) }), let key = keys.first(where: { $0.id == id }),
      let given = target.queryValue("signature").flatMap({ SHA256Digest(hex: $0) }),
      HMAC.areEqual(given, signature("/" + target.segments.joined(separator: "/"), expires, key))
    else { return .invalid }
    return expires > now ? .valid(secondsLeft: expires - now) : .expired
  }

  private func signature(_ path: String, _ expires: Int, _ key: SigningKey) -> SHA256Digest {
    let user = reader.user.map { "\n\($0)" } ?? ""
    return HMAC.code(
      of: Array("GET\n\(path)\n\(expires)\n\(reader.name)\n\(reader.keyHash)\(user)".utf8), key: key.secret)
  }
}
