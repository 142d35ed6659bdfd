import Kit
import Model
import Postgres
import Rooms
import Store

/// The API keys of a service.
struct KnownKeys: Sendable, Hashable {
  /// Whether `TAKE5_API_KEY` or `--api-key-file` gives a key.
  var hasOperatorKey = false
  /// Whether users sign in, at an identity provider or with a password.
  var hasUsers = false
  /// The numbers of valid and of revoked keys in the database.
  var valid = 0
  var revoked = 0
}

extension DoctorCheck {
  /// Checks who can reach the service and its metrics, and with which keys.
  static func access(_ subject: DoctorSubject) async throws -> [CheckResult] {
    let exposure = try ServiceExposure(subject.arguments)
    let metrics = try subject.arguments.value("--metrics").map { text throws(CommandFailure) in
      try ListenAddress(parsing: text)
    }
    return [results(exposure, try await keys(subject)), proxies(exposure)]
      + (metrics.flatMap(results).map { [$0] } ?? [])
  }

  /// The keys; nil if the database could not be read.
  private static func keys(_ subject: DoctorSubject) async throws -> KnownKeys? {
    var known = KnownKeys(
      hasOperatorKey: try APIKey.read(subject.arguments) != nil,
      hasUsers: try !IdentityOptions(subject.arguments).providers.isEmpty
        || ServiceConfiguration([.accounts], subject.arguments).hasAccounts)
    switch subject.database {
    case .success(let access):
      let keys = try await access.pool.run { session -> [StoredKey]? in
        if try Migrator.applied(session).isEmpty { return [] }
        // An older schema may lack the table.
        return try? Keys.list(session)
      }
      known.revoked = keys?.count { $0.revokedAt != nil } ?? 0
      known.valid = (keys?.count ?? 0) - known.revoked
      return keys == nil && !known.hasOperatorKey ? nil : known
    case .failure(let failure): return failure.status == .inputMissing || known.hasOperatorKey ? known : nil
    }
  }

  /// Whether a service at the address starts, and what a request to it needs.
  static func results(_ exposure: ServiceExposure, _ keys: KnownKeys?) -> CheckResult {
    let reach = exposure.isLocal ? "only this machine reaches" : "other machines reach"
    let address = "\(reach) \(exposure.address.host)"
    guard let keys else {
      return .warning(
        "access", "keys", "\(address); the keys are not known", remedy: "see the results of the database")
    }
    let hasKey = keys.hasOperatorKey || keys.valid > 0
    do throws(CommandFailure) { try exposure.check(hasKey: hasKey || keys.hasUsers) } catch {
      return .error("access", "keys", error)
    }
    if hasKey {
      let count = keys.valid + (keys.hasOperatorKey ? 1 : 0)
      return .ok("access", "keys", "\(address); every request needs one of \(count) valid keys")
    }
    guard !keys.hasUsers else {
      return .ok("access", "keys", "\(address); users sign in, and every request needs a credential")
    }
    guard keys.revoked == 0 else {
      return .warning(
        "access", "keys", "\(address); all keys are revoked, and every request is refused",
        remedy: "create a key with 'take5 keys create'")
    }
    return .ok("access", "keys", "\(address); without an API key every program on it has full access")
  }

  /// Whether the trusted proxies fit the address. Without a request nothing shows that a proxy exists that is not named.
  static func proxies(_ exposure: ServiceExposure) -> CheckResult {
    let host = exposure.address.host
    if exposure.trustsEveryone {
      return .warning(
        "access", "proxies", "every client is trusted as a proxy, and can claim any address with X-Forwarded-For",
        remedy: "name only the addresses of your reverse proxies with --trusted-proxy")
    }
    if exposure.address.isLoopback, !exposure.proxies.isEmpty, !exposure.trustsThisMachine {
      return .warning(
        "access", "proxies", "the trusted proxies are on other machines, which cannot reach \(host)",
        remedy: "listen on an address that the proxy reaches, or name the proxy of this machine with --trusted-proxy")
    }
    if !exposure.proxies.isEmpty {
      return .ok("access", "proxies", "X-Forwarded-For of the trusted proxies names the clients")
    }
    guard !exposure.address.isLoopback else {
      return .ok("access", "proxies", "no proxy is trusted")
    }
    return .warning(
      "access", "proxies", "other machines reach \(host) without TLS, and no proxy is trusted",
      remedy:
        "outside a private network, let a reverse proxy with TLS forward requests, and name it with --trusted-proxy")
  }

  /// A warning if other machines reach the metrics of a worker, which need no key.
  static func results(_ metrics: ListenAddress) -> CheckResult? {
    guard !metrics.isLoopback else { return nil }
    return .warning(
      "access", "metrics", "other machines reach \(metrics.host), where metrics are served without an API key",
      remedy: "name an address of loopback or of a private network with --metrics")
  }
}
