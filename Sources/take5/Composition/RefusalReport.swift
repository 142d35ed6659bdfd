import Logging
import Metrics
import Platform

/// Tells operators who was turned away, and why: a counter for each limit, and a line of the log for each client.
final class RefusalReport: Sendable {
  private let log: Logger
  private let metrics: Metrics
  private let lines = Locked(Lines())

  init(log: Logger, metrics: Metrics) {
    self.log = log
    self.metrics = metrics
  }

  /// - Parameters:
  ///   - limit: what there was too much of.
  ///   - who: the address, the key or the author.
  func tell(_ limit: String, of who: String) {
    metrics.count(
      "take5_http_refused_total",
      "Connections, requests, streams and submissions turned away because there were too many.",
      ["limit": limit])
    guard lines.withLock({ $0.begin(limit, who, at: .now) }) else { return }
    log.warning("turned away", ["limit": limit, "client": who])
  }

  /// Tells that a proxy brings requests although there is no key. They are refused, but a proxy that says nothing of
  /// itself is not known for one: then whoever reaches it may do everything.
  func tellOfProxy(at client: String) {
    guard lines.withLock({ $0.begin("proxy", client, at: .now) }) else { return }
    log.warning(
      "requests come through a proxy, and there is no API key",
      ["client": client, "remedy": "make one with 'take5 keys create', and name the proxy with --trusted-proxy"])
  }

  /// Which refusals have a line: a crowd that is turned away must not fill the log too.
  struct Lines {
    /// For so long somebody is told of once for each limit.
    static let interval = Duration.seconds(10)
    /// So many lines at most are written in that time.
    static let most = 100

    private var told: Set<[String]> = []
    private var start: ContinuousClock.Instant?

    /// Whether a refusal at this time has a line.
    mutating func begin(_ limit: String, _ who: String, at now: ContinuousClock.Instant) -> Bool {
      if start.map({ now - $0 >= Self.interval }) ?? true { (told, start) = ([], now) }
      return told.count < Self.most && told.insert([limit, who]).inserted
    }
  }
}
