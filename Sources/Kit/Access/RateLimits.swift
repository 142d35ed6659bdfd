package import HTTPServer
internal import Model
internal import Platform

/// The rate limits of this process: requests of one API key or address, and submissions of one author.
package final class RateLimits: Sendable {
  package struct Configuration: Sendable, Hashable {
    /// The limit of one API key, of one user token, and of one address without either.
    package var requestsPerMinute = 60_000
    /// The limit of one author.
    package var submissionsPerMinute = 600
    /// The attempts to sign in that one user name has at once from one address, and those that it gets back each minute:
    /// who guesses passwords from there has 1,450 in a day.
    package var attemptsOfName = Rate(perMinute: 1, burst: 10)
    /// The same from all addresses that the name has not signed in from lately: who has any number of them has 14,500
    /// guesses in a day.
    package var attemptsOfNameElsewhere = Rate(perMinute: 10, burst: 100)
    /// The same for one address, to sign in with any name or to register: many users may share it.
    package var attemptsOfAddress = Rate(perMinute: 10, burst: 60)

    /// The text that one user stores a day, in bytes: comments, profiles, and what is kept to answer a repetition.
    package var textOfUser: Int64 = 64 << 20
    /// The same for the users together who have tokens and one address.
    package var textOfAddress: Int64 = 256 << 20

    /// The attempts that an address gets back each minute; at once it has six times as many.
    package var addressAttempts: Int {
      get { attemptsOfAddress.perMinute }
      set { attemptsOfAddress = Rate(perMinute: newValue, burst: 6 * newValue) }
    }

    package init() {}
  }

  /// How much is possible at once, and how much more each minute.
  package struct Rate: Sendable, Hashable {
    let perMinute: Int
    let burst: Int

    /// - Parameter burst: nil: as much as in a minute.
    package init(perMinute: Int, burst: Int? = nil) {
      self.perMinute = perMinute
      self.burst = burst ?? perMinute
    }

    /// As much at once as in a day.
    static func daily(_ amount: Int64) -> Rate { Rate(perMinute: Int(amount / 1440 + 1), burst: Int(amount)) }
  }

  /// The limit that refused a request.
  package enum Limit: String, Sendable, CaseIterable {
    case requests
    case submissions
    case attempts
    case text
  }

  let configuration: Configuration
  private let now: @Sendable () -> Double
  private let onRefusal: @Sendable (Limit, String) -> Void
  /// A table for each limit: many names of one kind push out no bucket of another one.
  private let buckets = Locked<[Limit: TokenBuckets]>([:])
  let signIns = Locked(RecentSignIns())

  /// - Parameters:
  ///   - now: returns the time in seconds since an arbitrary origin; it must not go back.
  ///   - onRefusal: called for each refusal with the limit and the name of the key, address or author; it must not block.
  package init(
    _ configuration: Configuration, now: @escaping @Sendable () -> Double,
    onRefusal: @escaping @Sendable (Limit, String) -> Void = { _, _ in }
  ) {
    self.configuration = configuration
    self.now = now
    self.onRefusal = onRefusal
  }

  /// Counts a request with a valid API key; throws a problem with status 429 if the limit is exceeded.
  func countRequest(ofKey key: String) throws(Problem) { try takeRequest("key \(key)", by: "API key") }

  /// Counts a request with a valid user token or token of the identity provider, which thereby does not count for an API
  /// key; throws a problem with status 429 if the limit is exceeded.
  func countRequest(ofToken token: String) throws(Problem) { try takeRequest("token \(token)", by: "user token") }

  /// Counts a request without a valid API key; throws a problem with status 429 if the limit is exceeded.
  func countRequest(of client: IPAddress) throws(Problem) { try takeRequest("\(client.site)", by: "address") }

  private func takeRequest(_ name: String, by sender: String) throws(Problem) {
    let limit = Rate(perMinute: configuration.requestsPerMinute)
    try take(
      .requests, name, limit, "This \(sender) sends more than \(CountText.text(limit.perMinute, "request")) per minute."
    )
  }

  /// Counts a submission; throws a problem with status 429 if the limit is exceeded.
  package func countSubmission(of author: String, tenant: String) throws(Problem) {
    let limit = Rate(perMinute: configuration.submissionsPerMinute)
    try take(
      .submissions, "author \(tenant) \(author)", limit,
      "This author sends more than \(CountText.text(limit.perMinute, "submission")) per minute.")
  }

  /// Counts text that is about to be stored; throws a problem with status 429 if a limit is exceeded.
  ///
  /// - Parameter address: that of a client that acts as one user by itself; nil: it serves many, such as the app's back-end.
  func countText(_ bytes: Int64, of author: String, tenant: String, from address: IPAddress?) throws(Problem) {
    func take(_ name: String, _ most: Int64, _ sender: String) throws(Problem) {
      let wait = self.take(.text, name, .daily(most), Double(bytes))
      guard let wait else { return }
      throw refusal(.text, name, wait, "\(sender) stores more than \(most >> 20) MiB of text in a day.")
    }
    let own = "text of \(tenant) \(author)"
    try take(own, configuration.textOfUser, "This author")
    guard let address else { return }
    do throws(Problem) { try take("text from \(address.site)", configuration.textOfAddress, "This address") } catch {
      // The user's own share is good elsewhere.
      _ = self.take(.text, own, .daily(configuration.textOfUser), -Double(bytes))
      throw error
    }
  }

  func take(_ limit: Limit, _ name: String, _ rate: Rate, _ detail: String) throws(Problem) {
    if let wait = take(limit, name, rate) { throw refusal(limit, name, wait, detail) }
  }

  /// Takes tokens of the bucket with a name; returns nil on success, otherwise the seconds until they are available.
  func take(_ limit: Limit, _ name: String, _ rate: Rate, _ count: Double = 1) -> Double? {
    let time = now()
    return buckets.withLock { $0[limit, default: TokenBuckets()].take(name, rate, count, now: time) }
  }

  func refusal(_ limit: Limit, _ name: String, _ wait: Double, _ detail: String) -> Problem {
    onRefusal(limit, name)
    return ProblemKind.tooManyRequests.problem(
      detail, headers: ["Retry-After": "\(max(1, Int(wait.rounded(.up))))"])
  }
}

/// Token buckets by name, those that were used last: of a name that was not, the next bucket is full.
///
/// Once the younger half is full it becomes the older one, whose buckets are dropped: no request waits until a table is searched.
struct TokenBuckets: Sendable {
  static let maxCount = 100_000

  private(set) var younger: [String: TokenBucket] = [:]
  private(set) var older: [String: TokenBucket] = [:]

  /// Takes tokens of the bucket with a name; returns nil on success, otherwise the seconds until they are available.
  mutating func take(_ name: String, _ rate: RateLimits.Rate, _ count: Double = 1, now: Double) -> Double? {
    if younger[name] == nil {
      let known = older.removeValue(forKey: name)
      if younger.count >= Self.maxCount / 2 { (younger, older) = ([:], younger) }
      younger[name] = known
    }
    return younger[name, default: TokenBucket(rate, now: now)].take(count, now: now)
  }
}

/// A token bucket: admits a burst, and then a constant rate.
struct TokenBucket: Sendable, Hashable {
  /// The tokens added per second.
  let rate: Double
  /// The capacity in tokens.
  let burst: Double
  private var tokens: Double
  private var last: Double

  /// - Parameter now: in seconds.
  init(_ rate: RateLimits.Rate, now: Double) {
    self.rate = Double(rate.perMinute) / 60
    burst = Double(rate.burst)
    tokens = burst
    last = now
  }

  /// Takes tokens; returns nil on success, otherwise the seconds until they are available.
  mutating func take(_ count: Double = 1, now: Double) -> Double? {
    tokens = min(burst, tokens + max(0, now - last) * rate)
    last = max(last, now)
    guard tokens >= count else { return (count - tokens) / rate }
    tokens -= count
    return nil
  }
}
