import Blobs
import Platform
import Telemetry

extension Metrics {
  /// Counts a request to the object store.
  func count(_ exchange: S3Exchange) {
    observe(
      "take5_store_request_duration_seconds", "Time of a request to the object store, with its body.",
      ["operation": exchange.operation, "result": exchange.result.rawValue], .request,
      seconds: exchange.start.duration(to: exchange.end) / .seconds(1))
  }
}

/// What an object store refuses for a reason that an operator mends: each in the log once in a while, since every request meets it.
final class StoreRefusals: Sendable {
  private static let pause = Duration.seconds(300)
  private static let maxKinds = 100

  private let log: Logger
  private let logged = Locked<[String: ContinuousClock.Instant]>([:])

  init(_ log: Logger) { self.log = log }

  func note(_ exchange: S3Exchange) {
    guard let refusal = exchange.refusal else { return }
    let isDue = logged.withLock { logged in
      let kind = "\(exchange.operation) \(refusal)"
      if let last = logged[kind], last + Self.pause > exchange.end { return false }
      if logged.count >= Self.maxKinds { logged = [:] }
      logged[kind] = exchange.end
      return true
    }
    guard isDue else { return }
    log.error(
      "the object store refuses requests: check its keys, their rights and the settings of the bucket",
      ["operation": exchange.operation, "refusal": refusal])
  }
}
