internal import HTTPServer
internal import Platform

/// The rate limits of this process: requests of one API key or address, and submissions of one author.
package final class RateLimits: Sendable {
  package struct Configuration: Sendable, Hashable {
    /// The limit of one API key, of one user token, and of one address without either.
    package var requestsPerMinute = 60_000
    /// The limit of one author.
    package var submissionsPerMinute = 600

    package init() {}
  }

  /// The limit that refused a request.
  package enum Limit: String, Sendable {
    case requests
    case submissions
  }

  /// The number of buckets above which full ones are removed.
  private static let maxBuckets = 100_000

  private let configuration: Configuration
  private let now: @Sendable () -> Double
  private let onRefusal: @Sendable (Limit, String) -> Void
  private let buckets = Locked<[String: TokenBucket]>([:])

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
  func countRequest(ofKey key: String) throws(Problem) {
    try take(.requests, "key \(key)", configuration.requestsPerMinute, of: "requests", by: "API key")
  }

  /// Counts a request with a valid user token or token of the identity provider, which thereby does not count for an API
  /// key; throws a problem with status 429 if the limit is exceeded.
  func countRequest(ofToken token: String) throws(Problem) {
    try take(.requests, "token \(token)", configuration.requestsPerMinute, of: "requests", by: "user token")
  }

  /// Counts a request without a valid API key; throws a problem with status 429 if the limit is exceeded.
  func countRequest(of client: IPAddress) throws(Problem) {
    try take(.requests, "\(client.site)", configuration.requestsPerMinute, of: "requests", by: "address")
  }

  /// Counts a submission; throws a problem with status 429 if the limit is exceeded.
  func countSubmission(of author: String, tenant: String) throws(Problem) {
    try take(
      .submissions, "author \(tenant) \(author)", configuration.submissionsPerMinute, of: "submissions",
      by: "author")
  }

  private func take(
    _ limit: Limit, _ name: String, _ perMinute: Int, of unit: String, by sender: String
  ) throws(Problem) {
    let time = now()
    let wait = buckets.withLock { buckets in
      if buckets.count >= Self.maxBuckets, buckets[name] == nil {
        buckets = buckets.filter { !$0.value.isFull(now: time) }
      }
      return buckets[name, default: TokenBucket(perMinute: perMinute, now: time)].take(now: time)
    }
    guard let wait else { return }
    onRefusal(limit, name)
    throw ProblemKind.tooManyRequests.problem(
      "This \(sender) sends more than \(perMinute) \(unit) per minute.",
      headers: ["Retry-After": "\(max(1, Int(wait.rounded(.up))))"])
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
  init(perMinute: Int, now: Double) {
    rate = Double(perMinute) / 60
    burst = Double(perMinute)
    tokens = burst
    last = now
  }

  /// Takes a token; returns nil on success, otherwise the seconds until a token is available.
  mutating func take(now: Double) -> Double? {
    tokens = min(burst, tokens + max(0, now - last) * rate)
    last = max(last, now)
    guard tokens >= 1 else { return (1 - tokens) / rate }
    tokens -= 1
    return nil
  }

  /// Whether the bucket is full, and so equal to a new one.
  func isFull(now: Double) -> Bool { tokens + max(0, now - last) * rate >= burst }
}
