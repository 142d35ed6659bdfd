internal import Crypto
internal import HTTPServer
internal import Model

/// Signs the URLs of media, so that players and image views need no header, and judges them when they come back.
///
/// A URL is valid for a day to a day and an hour: within the hour it stays the same, so that caches know it again.
struct MediaURLs: Sendable {
  /// How long a URL is valid at least, in seconds.
  static let lifetime = 24 * 3600
  private static let step = 3600

  /// The first one signs.
  private let keys: [SigningKey]
  /// In seconds since 1970-01-01 UTC.
  private let now: Int

  init(keys: [SigningKey], now: Int) {
    self.keys = keys
    self.now = now
  }

  /// What a signature says of a URL.
  enum Judgement: Equatable {
    case valid(secondsLeft: Int)
    case expired
    case wrong
  }

  /// The path of an asset, with a signature.
  func url(of asset: Asset) -> String {
    let path = "/v1/media/\(asset.id)"
    guard let key = keys.first else { return path }
    let expires = (now / Self.step + 1) * Self.step + Self.lifetime
    return "\(path)?expires=\(expires)&key=\(key.id)&signature=\(Self.signature(path, expires, key).hex)"
  }

  /// Judges a URL that carries a signature.
  func judge(_ target: RequestTarget) -> Judgement {
    guard let expires = target.queryValue("expires").flatMap({ Int($0) }),
      let id = target.queryValue("key").flatMap({ Int64($0) }), let key = keys.first(where: { $0.id == id }),
      let given = target.queryValue("signature").flatMap({ SHA256Digest(hex: $0) }),
      HMAC.areEqual(given, Self.signature("/" + target.segments.joined(separator: "/"), expires, key))
    else { return .wrong }
    return expires > now ? .valid(secondsLeft: expires - now) : .expired
  }

  private static func signature(_ path: String, _ expires: Int, _ key: SigningKey) -> SHA256Digest {
    HMAC.code(of: Array("GET\n\(path)\n\(expires)".utf8), key: key.secret)
  }
}
