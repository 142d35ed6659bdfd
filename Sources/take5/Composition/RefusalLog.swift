import HTTPServer
import Platform

/// Whom a log line tells to be turned away: a crowd that is refused must not fill the log too.
struct RefusalLog {
  private struct Entry: Hashable {
    let refusal: Refusal
    let client: IPAddress
  }

  /// For so long a client is told of once for each limit.
  static let interval = Duration.seconds(10)
  /// So many lines at most are written in that time.
  static let most = 100

  private var told: Set<Entry> = []
  private var start: ContinuousClock.Instant?

  /// Whether a refusal at this time is to be told.
  mutating func tells(_ refusal: Refusal, of client: IPAddress, at now: ContinuousClock.Instant) -> Bool {
    if start.map({ now - $0 >= Self.interval }) ?? true { (told, start) = ([], now) }
    return told.count < Self.most && told.insert(Entry(refusal: refusal, client: client)).inserted
  }
}
