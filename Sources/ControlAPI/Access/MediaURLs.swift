internal import Crypto
internal import HTTPServer
internal import Model

/// Signs the URLs of media for one reader, so that players and image views need no header, and judges them when they
/// come back.
///
/// A URL is valid for a day to a day and an hour: within the hour it stays the same, so that caches know it again. It
/// is bound to the API key that it was given to, and worth nothing once that is revoked.
package struct MediaURLs: Sendable {
  /// How long a URL is valid at least, in seconds.
  static let minLifetime = 24 * 3600
  /// How long one is valid at most; a signature that promises more is none of ours.
  package static let lifetime = minLifetime + step
  private static let step = 3600
  /// So far apart the clocks of machines may be.
  private static let skew = 60

  /// Whom a URL was given to.
  struct Reader: Sendable, Hashable {
    /// The number of an API key, `operator`, or `anybody` where no key is needed.
    let name: String
    /// What of the key goes into signatures, so that no other key of that name is taken for it.
    let proof: String
  }

  /// The first one signs.
  private let keys: [SigningKey]
  private let reader: Reader
  /// In seconds since 1970-01-01 UTC.
  private let now: Int

  init(keys: [SigningKey], reader: Reader, now: Int) {
    self.keys = keys
    self.reader = reader
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
    let expires = (now / Self.step + 1) * Self.step + Self.minLifetime
    let signature = signature(path, expires, key)
    return "\(path)?expires=\(expires)&key=\(key.id)&reader=\(reader.name)&signature=\(signature.hex)"
  }

  /// Whom a URL says that it was given to.
  static func readerName(of target: RequestTarget) -> String? { target.queryValue("reader") }

  /// Judges a URL that carries a signature and was given to this reader.
  func judge(_ target: RequestTarget) -> Judgement {
    guard let expires = target.queryValue("expires").flatMap({ Int($0) }), expires <= now + Self.lifetime + Self.skew,
      let id = target.queryValue("key").flatMap({ Int64($0) }), let key = keys.first(where: { $0.id == id }),
      let given = target.queryValue("signature").flatMap({ SHA256Digest(hex: $0) }),
      HMAC.areEqual(given, signature("/" + target.segments.joined(separator: "/"), expires, key))
    else { return .wrong }
    return expires > now ? .valid(secondsLeft: expires - now) : .expired
  }

  private func signature(_ path: String, _ expires: Int, _ key: SigningKey) -> SHA256Digest {
    HMAC.code(of: Array("GET\n\(path)\n\(expires)\n\(reader.name)\n\(reader.proof)".utf8), key: key.secret)
  }
}
