internal import Crypto
internal import HTTPServer
internal import Platform

/// The identity providers of the app, of which one with the issuer of a token verifies it.
///
/// A user id belongs to the provider with the longest prefix that it begins with, and the tokens of no other one act as
/// this user. Media URLs and tickets name a user and a key, which two providers may share, and find their provider by the
/// user.
package final class IdentityProviders: Sendable {
  /// What the names of readers begin with in media URLs.
  static let readerPrefix = "provider-"

  /// The longest prefix first.
  package let list: [IdentityProvider]
  private let verified = Locked(
    RecentEntries<SHA256Digest, IdentityToken>(lifetime: .seconds(60), maxEntries: 50_000))

  package init(_ providers: [IdentityProvider]) {
    list = providers.sorted { $0.rules.prefix.utf8.count > $1.rules.prefix.utf8.count }
  }

  /// Reads all key sets, none of which waits for another one.
  package func refresh() async {
    await withDiscardingTaskGroup { group in
      for provider in list { group.addTask { await provider.refresh() } }
    }
  }

  private func owner(of user: String) -> IdentityProvider? {
    list.first { user.utf8.starts(with: $0.rules.prefix.utf8) }
  }

  // MARK: Tokens

  /// Returns a token that was verified a short time ago and is still valid.
  func cached(_ digest: SHA256Digest, now: Int) -> IdentityToken? {
    guard let token = verified.withLock({ $0.value(of: digest) }), isValid(token, now: now) else { return nil }
    return token
  }

  /// Whether a token that was verified is still valid.
  func isValid(_ token: IdentityToken, now: Int) -> Bool {
    token.expires > now && owner(of: token.user)?.hasKey(token.key) == true
  }

  /// Verifies a token by its provider; throws a problem if it is not valid, or if the key set that may have its key cannot
  /// be read.
  ///
  /// - Parameter now: in seconds since 1970-01-01 UTC.
  func verify(_ text: String, _ digest: SHA256Digest, now: Int) async throws(Problem) -> IdentityToken {
    let provider: IdentityProvider
    do throws(IdentityTokenError) { provider = try self.provider(of: text) } catch {
      throw AccessControl.unauthorized(error.detail)
    }
    let token = try await provider.verify(text, now: now)
    guard owner(of: token.user) === provider else {
      throw AccessControl.unauthorized(IdentityTokenError.foreignSubject.detail)
    }
    verified.withLock { $0.insert(token, of: digest, at: .now) }
    return token
  }

  private func provider(of text: String) throws(IdentityTokenError) -> IdentityProvider {
    let issuer = try IdentityToken.issuer(of: text)
    guard let provider = list.first(where: { $0.rules.isIssuer(issuer) }) else { throw .otherIssuer }
    return provider
  }

  // MARK: Media URLs

  /// The reader of media URLs for a token; nil if its provider is not known any more.
  func reader(_ token: IdentityToken) -> MediaURLs.Reader? { owner(of: token.user)?.reader(token) }

  /// Returns the reader with a name in a media URL; nil if its key does not belong to the key set any more.
  func reader(_ name: String, user: String?) -> MediaURLs.Reader? {
    guard let user, name.utf8.starts(with: Self.readerPrefix.utf8),
      let digest = SHA256Digest(hex: Substring(name.utf8.dropFirst(Self.readerPrefix.utf8.count))),
      let provider = owner(of: user), provider.hasKey(digest)
    else { return nil }
    return provider.reader(IdentityToken(user: user, expires: .max, key: digest))
  }
}
