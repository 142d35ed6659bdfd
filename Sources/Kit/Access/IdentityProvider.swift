package import Crypto
internal import HTTPServer
internal import Platform

/// Verifies the tokens of one identity provider of the app with its key set, which it reads again from time to time.
///
/// The last key set stays in use for a while if it cannot be read: an outage of the identity provider does not lock its
/// users out. After that the service knows no key: an attacker who prevents the reading must not keep a removed key alive.
package final class IdentityProvider: Sendable {
  /// The interval at which the key set is read, so that a key that was removed becomes invalid.
  package static let refreshInterval = Duration.seconds(300)
  /// The shortest time between two reads for keys that are not known: clients choose the names of keys.
  package static let minInterval = Duration.seconds(30)
  /// The time for which a key set is in use that cannot be read again.
  package static let maxAge = Duration.seconds(24 * 3600)

  private struct State {
    var keys: KeySet?
    /// Whether the last read failed.
    var isFailed = false
    var lastRead: ContinuousClock.Instant?
    var lastSuccess: ContinuousClock.Instant?
    var reading: Task<Void, Never>?
  }

  let rules: IdentityRules
  private let minInterval: Duration
  private let maxAge: Duration
  private let load: @Sendable () throws -> [UInt8]
  private let onFailure: @Sendable (String) -> Void
  private let state = Locked(State())

  /// - Parameters:
  ///   - minInterval: the shortest time between two reads for keys that are not known.
  ///   - maxAge: the time for which a key set is in use that cannot be read again.
  ///   - load: reads the JSON of the key set; it blocks, and runs on a thread of its own.
  ///   - onFailure: called with the reason when the key set could not be read.
  package init(
    rules: IdentityRules, minInterval: Duration = IdentityProvider.minInterval,
    maxAge: Duration = IdentityProvider.maxAge,
    onFailure: @escaping @Sendable (String) -> Void = { _ in },
    load: @escaping @Sendable () throws -> [UInt8]
  ) {
    self.rules = rules
    self.minInterval = minInterval
    self.maxAge = maxAge
    self.onFailure = onFailure
    self.load = load
  }

  /// Whether a key set was read.
  package var hasKeys: Bool { state.withLock { $0.keys != nil } }

  /// Reads the key set; if it is being read, waits for that.
  package func refresh() async { await refresh(ifOlderThan: .zero) }

  private func refresh(ifOlderThan age: Duration) async {
    let now = ContinuousClock.now
    let reading = state.withLock { state -> Task<Void, Never>? in
      if let reading = state.reading { return reading }
      if let last = state.lastRead, now - last < age { return nil }
      let reading = Task { await self.read() }
      state.reading = reading
      return reading
    }
    await reading?.value
  }

  private func read() async {
    var keys: KeySet?
    do {
      keys = try KeySet(json: try await onThread("key-set", load))
    } catch {
      onFailure("\(error)")
    }
    let read = keys
    state.withLock { state in
      let now = ContinuousClock.now
      if read != nil { state.lastSuccess = now }
      let isInUse = state.lastSuccess.map { now - $0 < maxAge } ?? false
      state.keys = read ?? (isInUse ? state.keys : nil)
      state.isFailed = read == nil
      state.lastRead = now
      state.reading = nil
    }
  }

  // MARK: Tokens

  /// Whether the key set has a key that signed a token.
  func hasKey(_ thumbprint: SHA256Digest) -> Bool { state.withLock(\.keys)?.key(thumbprint: thumbprint) != nil }

  /// Verifies a token; throws a problem if it is not valid, or if the key set that may have its key cannot be read.
  ///
  /// - Parameter now: in seconds since 1970-01-01 UTC.
  func verify(_ text: String, now: Int) async throws(Problem) -> IdentityToken {
    if !hasKeys { await refresh(ifOlderThan: minInterval) }
    do throws(IdentityTokenError) {
      return try verify(text, now)
    } catch {
      guard error == .unknownKey else { throw AccessControl.unauthorized(error.detail) }
    }
    await refresh(ifOlderThan: minInterval)
    do throws(IdentityTokenError) {
      return try verify(text, now)
    } catch {
      // The token may be signed with a new key.
      guard error == .unknownKey, state.withLock(\.isFailed) else { throw AccessControl.unauthorized(error.detail) }
      throw ProblemKind.keySetUnavailable.problem(
        "The service cannot read the key set of the identity provider.",
        headers: ["Retry-After": "\(minInterval.components.seconds)"])
    }
  }

  private func verify(_ text: String, _ now: Int) throws(IdentityTokenError) -> IdentityToken {
    guard let keys = state.withLock(\.keys) else { throw .unknownKey }
    return try rules.verify(text, keys, now: now)
  }

  // MARK: Media URLs

  /// The reader of media URLs for a token. It is bound to the key that signed the token, and to the issuer and audience.
  func reader(_ token: IdentityToken) -> MediaURLs.Reader {
    let bound = "\(rules.issuer)\n\(rules.audience)\n\(token.key.hex)"
    var reader = MediaURLs.Reader(
      name: IdentityProviders.readerPrefix + token.key.hex, keyHash: SHA256.digest(of: Array(bound.utf8)).hex)
    reader.user = token.user
    reader.expires = token.expires
    return reader
  }
}
