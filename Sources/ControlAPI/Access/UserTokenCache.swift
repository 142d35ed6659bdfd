package import Crypto
package import Model
internal import Platform
package import Postgres
package import Store

/// Finds valid user tokens in the database, and keeps each for a short time. There may be as many tokens as phones, so
/// they are not copied into memory as API keys are.
package final class UserTokenCache: Sendable {
  /// The time for which a token is known: a revoked or expired one stays valid for up to this long.
  package static let lifetime = Duration.seconds(2)

  /// What a token is found by.
  package enum Name: Sendable, Hashable {
    /// The SHA-256 of the token, from a request with it.
    case hash(SHA256Digest)
    /// The id, from a signed URL.
    case id(PublicID)
  }

  private struct Entry {
    let token: UserToken
    let until: ContinuousClock.Instant
  }

  /// Two generations: the younger one is filled, and the older one forgotten as a whole, so that no request searches for
  /// old entries.
  private struct Generations {
    var young: [Name: Entry] = [:]
    var old: [Name: Entry] = [:]
    var since = ContinuousClock.now
  }

  /// The maximum number of entries of a generation.
  private static let maxEntries = 50_000

  private let read: @Sendable (Name) async throws -> UserToken?
  private let generations = Locked(Generations())

  /// - Parameter read: reads a valid token from the database.
  package init(read: @escaping @Sendable (Name) async throws -> UserToken?) { self.read = read }

  package convenience init(_ store: Store, _ database: Pool) {
    self.init { name in
      try await database.read { session in
        switch name {
        case .hash(let hash): try store.token(hash: hash, session)
        case .id(let id): try store.token(id, session)
        }
      }
    }
  }

  /// Returns a token that was read within `lifetime`.
  func cached(_ name: Name) -> UserToken? {
    let now = ContinuousClock.now
    return generations.withLock { generations in
      let entry = generations.young[name] ?? generations.old[name]
      return entry.flatMap { $0.until > now ? $0.token : nil }
    }
  }

  /// Returns a valid token; nil if there is none. Throws if the database cannot be asked.
  func token(_ name: Name) async throws -> UserToken? {
    if let token = cached(name) { return token }
    // The time before the query: what happens during it may not be in its result.
    let now = ContinuousClock.now
    guard let token = try await read(name) else { return nil }
    generations.withLock { generations in
      if generations.young.count >= Self.maxEntries || now - generations.since > Self.lifetime {
        generations = Generations(young: [:], old: generations.young, since: now)
      }
      generations.young[name] = Entry(token: token, until: now + Self.lifetime)
    }
    return token
  }

  /// Forgets tokens that this process has revoked.
  func forget(_ ids: Set<PublicID>) {
    generations.withLock { generations in
      generations.young = generations.young.filter { !ids.contains($0.value.token.id) }
      generations.old = generations.old.filter { !ids.contains($0.value.token.id) }
    }
  }
}
