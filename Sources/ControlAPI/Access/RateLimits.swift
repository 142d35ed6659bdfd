internal import HTTPServer
internal import Platform

/// How often each may ask, in this process.
package final class RateLimits: Sendable {
  /// Requests of one API key, and submissions of one author, in a minute.
  package struct Configuration: Sendable, Hashable {
    package var requestsPerMinute = 60_000
    package var submissionsPerMinute = 600

    package init() {}
  }

  /// What there may be only so much of.
  package enum Limit: String, Sendable {
    case requests
    case submissions
  }

  /// Beyond so many, buckets that are full again are forgotten.
  private static let most = 100_000

  private let configuration: Configuration
  private let now: @Sendable () -> Double
  private let onRefusal: @Sendable (Limit, String) -> Void
  private let buckets = Locked<[String: TokenBucket]>([:])

  /// - Parameters:
  ///   - now: the time in seconds, from any point on.
  ///   - onRefusal: hears of each refusal, by what limit and of whom; it must not block.
  package init(
    _ configuration: Configuration, now: @escaping @Sendable () -> Double,
    onRefusal: @escaping @Sendable (Limit, String) -> Void = { _, _ in }
  ) {
    self.configuration = configuration
    self.now = now
    self.onRefusal = onRefusal
  }

  /// Counts a request that showed a key; throws 429 where there were too many.
  func countRequest(ofKey key: String) throws(Problem) {
    try take(.requests, "key \(key)", configuration.requestsPerMinute, "This API key sends more than")
  }

  /// Counts a request that showed no key, or none that is known; throws 429 where there were too many.
  func countRequest(of client: IPAddress) throws(Problem) {
    try take(.requests, "\(client.site)", configuration.requestsPerMinute, "This address sends more than")
  }

  /// Counts a submission; throws 429 where there were too many.
  func countSubmission(of author: String, tenant: String) throws(Problem) {
    try take(
      .submissions, "author \(tenant) \(author)", configuration.submissionsPerMinute, "This author submits more than")
  }

  private func take(_ limit: Limit, _ name: String, _ perMinute: Int, _ what: String) throws(Problem) {
    let time = now()
    let wait = buckets.withLock { buckets in
      if buckets.count >= Self.most, buckets[name] == nil {
        buckets = buckets.filter { !$0.value.isFull(now: time) }
      }
      return buckets[name, default: TokenBucket(perMinute: perMinute, now: time)].take(now: time)
    }
    guard let wait else { return }
    onRefusal(limit, name)
    throw ProblemKind.tooManyRequests.problem(
      "\(what) \(perMinute) a minute.", headers: ["Retry-After": "\(max(1, Int(wait.rounded(.up))))"])
  }
}
