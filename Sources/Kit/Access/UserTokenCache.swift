package import Crypto
import FoundationEssentials
package import Model
internal import Platform
package import Postgres
import Store

/// Finds valid user tokens in the database, and keeps each for a short time. There may be as many tokens as phones, so
/// they are not copied into memory as API keys are.
package final class UserTokenCache: Sendable {
  /// The time for which a token is known: a revoked or expired one stays valid for up to this long.
  package static let lifetime = Duration.seconds(2)

  /// What a token is found by.
  package enum Name: Sendable, Hashable {
    /// The SHA-256 of the token, from a request with it.
    case hash(SHA256Digest)
    /// The id, from a signed URL of an earlier version.
    case id(PublicID)
    /// The user, from a signed URL: any token, but of none of these minters.
    case user(String, not: Set<String>)
  }

  private let read: @Sendable (Name) async throws -> UserToken?
  /// Takes a ticket by its hash: a ticket is valid once, so that none is kept.
  let takeTicket: @Sendable (SHA256Digest) async throws -> EventTicket?
  private let recent = Locked(RecentEntries<Name, UserToken>(lifetime: UserTokenCache.lifetime, maxEntries: 50_000))

  /// The hashes of tokens whose use is to be noted.
  private let used = Locked(Set<SHA256Digest>())
  private static let maxUsed = 50_000

  /// - Parameters:
  ///   - read: reads a valid token from the database.
  ///   - takeTicket: takes a valid ticket from the database.
  package init(
    read: @escaping @Sendable (Name) async throws -> UserToken?,
    takeTicket: @escaping @Sendable (SHA256Digest) async throws -> EventTicket? = { _ in nil }
  ) {
    self.read = read
    self.takeTicket = takeTicket
  }

  package convenience init(_ database: Pool) {
    self.init(
      read: { name in
        try await database.read { session in
          switch name {
          case .hash(let hash): try Tokens.find(hash: hash, session)
          case .id(let id): try Tokens.find(id, session)
          case .user(let user, let minters): try Tokens.find(of: user, notMintedBy: minters, session)
          }
        }
      }, takeTicket: { hash in try await database.transaction { try Tickets.take(hash: hash, $0) } })
  }

  /// Returns a token that was read within `lifetime`.
  func cached(_ name: Name) -> UserToken? { recent.withLock { $0.value(of: name) } }

  /// Returns a valid token; nil if there is none. Throws if the database cannot be asked.
  func token(_ name: Name) async throws -> UserToken? {
    if let token = cached(name) { return token }
    // The time before the query: what happens during it may not be in its result.
    let now = ContinuousClock.now
    guard let token = try await read(name) else { return nil }
    recent.withLock { $0.insert(token, of: name, at: now) }
    if case .hash(let hash) = name, token.lastUsedAt.map({ -$0.timeIntervalSinceNow > Tokens.noted }) ?? true {
      used.withLock { used in if used.count < Self.maxUsed { used.insert(hash) } }
    }
    return token
  }

  /// Stores from time to time which tokens were used, until the task is cancelled: no request waits for that.
  package func noteUses(in database: Pool) async {
    while (try? await Task.sleep(for: .seconds(2))) != nil {
      let hashes = used.withLock { used in
        defer { used = [] }
        return Array(used)
      }
      guard !hashes.isEmpty else { continue }
      do {
        try await database.transaction { try Tokens.noteUses(of: hashes, $0) }
      } catch {
        // While the database cannot store it, the next use says it again.
        continue
      }
    }
  }

  /// Forgets tokens that this process has revoked.
  package func forget(_ ids: Set<PublicID>) { recent.withLock { $0.remove { ids.contains($0.id) } } }
}
